#include "core/bytes/number_text.h"

#include <cstddef>
#include <limits>

namespace tfrkit {
namespace {

constexpr std::size_t kSafeDigits = 18;  // that many always fit into int64, one more into uint64
constexpr std::uint64_t kMaxInt = std::numeric_limits<std::int64_t>::max();

bool is_digit(char c) noexcept { return c >= '0' && c <= '9'; }

bool is_blank(char c) noexcept { return c == ' ' || c == '\t'; }

std::string_view trimmed(std::string_view text) noexcept {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

// Returns how many digits `text` begins with.
std::size_t digits_of(std::string_view text) noexcept {
  std::size_t count = 0;
  while (count < text.size() && is_digit(text[count])) ++count;
  return count;
}

// `word` is in lower case.
bool is_word(std::string_view text, std::string_view word) noexcept {
  if (text.size() != word.size()) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if ((text[i] | 0x20) != word[i]) return false;
  }
  return true;
}

bool is_special(std::string_view text) noexcept {
  return is_word(text, "nan") || is_word(text, "inf") || is_word(text, "infinity");
}

struct Sign {
  bool minus = false;
  bool plus = false;
};

// `digits` is all that follows the sign, and not empty.
std::uint8_t integer_kind(std::string_view digits, Sign sign) noexcept {
  const bool zeros = digits.size() > 1 && digits[0] == '0';
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  bool fits = digits.size() <= kSafeDigits;
  if (digits.size() == kSafeDigits + 1) {
    std::uint64_t value = 0;
    for (const char c : digits) value = value * 10 + static_cast<std::uint64_t>(c - '0');
    fits = value <= kMaxInt + (sign.minus ? 1 : 0);
  }
  if (!fits || sign.plus) return kSeenText | kFitsFloat;
  if (zeros) return kSeenText | kFitsInt | kFitsFloat;
  const bool negative_zero = sign.minus && digits == "0";
  return static_cast<std::uint8_t>((negative_zero ? kSeenFloat : kSeenInt) | kFitsInt | kFitsFloat);
}

// Tells whether `text` is nothing, or an exponent such as e-5.
bool is_exponent(std::string_view text) noexcept {
  if (text.empty()) return true;
  if ((text[0] | 0x20) != 'e') return false;
  text.remove_prefix(1);
  if (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  return !text.empty() && digits_of(text) == text.size();
}

}  // namespace

std::uint8_t number_kind(std::string_view text) noexcept {
  text = trimmed(text);
  if (text.empty()) return kSeenText;
  const Sign sign{text[0] == '-', text[0] == '+'};
  if (sign.minus || sign.plus) text.remove_prefix(1);
  const std::size_t whole = digits_of(text);
  if (whole != 0 && whole == text.size()) return integer_kind(text, sign);
  const bool zeros = whole > 1 && text[0] == '0';
  std::string_view rest = text.substr(whole);
  std::size_t digits = whole;
  if (!rest.empty() && rest[0] == '.') {
    const std::size_t part = digits_of(rest.substr(1));
    digits += part;
    rest.remove_prefix(1 + part);
  }
  const bool number = digits == 0 ? !sign.plus && is_special(text) : is_exponent(rest);
  if (!number) return kSeenText;
  return static_cast<std::uint8_t>((zeros || sign.plus ? kSeenText : kSeenFloat) | kFitsFloat);
}

}  // namespace tfrkit
