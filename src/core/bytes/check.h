// A test program in one header: TEST(name) { CHECK(...); } and, once, TFRKIT_TEST_MAIN.
//
// A test that fails says where and continues, up to kMaxReports reports; the program's last line
// counts the tests.
#pragma once

#include <cstdio>
#include <iostream>
#include <source_location>
#include <vector>

namespace tfrkit::check {

inline constexpr int kMaxReports = 20;

struct Test {
  const char* name;
  void (*run)();
};

// Returns the tests of this program, in the order of the source.
inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

// Returns the number of failed checks so far.
inline int& failures() {
  static int count = 0;
  return count;
}

// Adds a test; returns a value only to be called from an initialiser.
inline bool add(const char* name, void (*run)()) {
  tests().push_back({name, run});
  return true;
}

// Counts a failed check and reports it, unless there were too many.
inline void fail(const char* text, const std::source_location& where) {
  if (++failures() > kMaxReports) return;
  std::cerr << where.file_name() << ":" << where.line() << ": expected " << text << "\n";
}

inline void check_true(bool holds, const char* text,
                       const std::source_location& where = std::source_location::current()) {
  if (!holds) fail(text, where);
}

// Compares, and reports both values.
template <typename A, typename B>
void check_equal(const A& a, const B& b, const char* text,
                 const std::source_location& where = std::source_location::current()) {
  if (a == b) return;
  fail(text, where);
  if (failures() <= kMaxReports) std::cerr << "  got " << +a << " and " << +b << "\n";
}

// Runs every test and returns the exit code of the program.
inline int run_all() {
  int passed = 0;
  int failed = 0;
  for (const Test& test : tests()) {
    const int before = failures();
    test.run();
    const bool good = failures() == before;
    std::cout << (good ? "ok      " : "FAILED  ") << test.name << "\n";
    (good ? passed : failed) += 1;
  }
  std::cout << passed << " passed, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}

}  // namespace tfrkit::check

#define CHECK(condition) ::tfrkit::check::check_true((condition), #condition)
#define CHECK_EQ(a, b) ::tfrkit::check::check_equal((a), (b), #a " == " #b)
#define TEST(name)                                                                     \
  static void name();                                                                  \
  [[maybe_unused]] static const bool name##_added = ::tfrkit::check::add(#name, name); \
  static void name()
#define TFRKIT_TEST_MAIN \
  int main() { return ::tfrkit::check::run_all(); }
