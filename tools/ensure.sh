#!/usr/bin/env bash
# Make sure that a system tool is there: try it, install it with apt-get where that is possible, try again.
#
#   tools/ensure.sh python PYTHON       Python >= 3.11 with venv and the headers for extension modules
#   tools/ensure.sh compiler            a C++20 compiler with the address and undefined-behaviour sanitizers
#   tools/ensure.sh libfuzzer CLANGXX   a clang++ with libFuzzer
#   tools/ensure.sh node                Node.js >= 20 with npm
#   tools/ensure.sh java                Java >= 17, for Spark
#   tools/ensure.sh chromium            Chromium, for the tests of the viewer's page; CHROMIUM names another one
set -euo pipefail

need=$1
command=${2:-}

fail() {
  printf 'error: %s\n\nhint: %s\n' "$1" "$2" >&2
  exit 1
}

probe() {
  case $need in
    python)
      "$command" -c 'import ensurepip, os, sysconfig
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))'
      ;;
    compiler)
      printf '#include <span>\nint main() { return static_cast<int>(std::span<int>().size()); }\n' |
        ${CXX:-c++} -std=c++20 -fsanitize=address,undefined -x c++ - -o /dev/null
      ;;
    libfuzzer)
      printf '#include <cstddef>\n#include <cstdint>\nextern "C" int LLVMFuzzerTestOneInput(const uint8_t*, size_t) { return 0; }\n' |
        "$command" -std=c++20 -fsanitize=fuzzer,address,undefined -x c++ - -o /dev/null
      ;;
    node)
      node -e 'process.exit(Number(process.versions.node.split(".")[0] < 20))' && npm --version
      ;;
    java)
      "${JAVA_HOME:+$JAVA_HOME/bin/}java" -XshowSettings:properties -version 2>&1 |
        awk '/java.specification.version =/ { exit !($3 >= 17) }'
      ;;
    chromium) "${CHROMIUM:-chromium}" --version ;;
  esac
}

case $need in
  python)
    "$command" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null ||
      fail "Python >= 3.11 is needed, but '$command' is not" "make PYTHON=/path/to/python3.11"
    packages=(python3-venv python3-dev)
    ;;
  compiler) packages=(g++) ;;
  libfuzzer) packages=(clang-19 libclang-rt-19-dev) ;;
  node) packages=(nodejs npm) ;;
  java) packages=(default-jre-headless) ;;
  chromium) packages=(chromium) ;;
  *) fail "unknown need '$need'" "see the head of $0" ;;
esac

probe > /dev/null 2>&1 && exit 0

as_root=()
if [ "$(id -u)" != 0 ]; then as_root=(sudo -n); fi
if command -v apt-get > /dev/null && "${as_root[@]}" true 2> /dev/null; then
  echo "installing ${packages[*]}" >&2
  export DEBIAN_FRONTEND=noninteractive
  # The list of packages may be old or empty; a source that fails to answer need not be one that is needed.
  wait_for_lock=(-o DPkg::Lock::Timeout=300) # of another installation
  "${as_root[@]}" apt-get "${wait_for_lock[@]}" update -qq > /dev/null || true
  "${as_root[@]}" apt-get "${wait_for_lock[@]}" install -qq --yes --no-install-recommends "${packages[@]}" > /dev/null < /dev/null
fi

probe > /dev/null || fail "$need is not usable: see the message above" "install ${packages[*]} or their like on your system"
