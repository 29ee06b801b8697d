#!/usr/bin/env bash
# Build a wheel for every Python >= 3.11 that is found, and run the README's example with each.
#
#   tools/build_wheels.sh OUTPUT_FOLDER
set -euo pipefail

output=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$output"

declare -A interpreters=()
candidates=(python3.11 python3.12 python3.13 python3.14 python3.15 "${PYTHON:-python3}")
for path in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/*/bin/python3; do
  candidates+=("$path")
done
for candidate in "${candidates[@]}"; do
  # A name may be a shim without an interpreter behind it, or one without headers: asking tells.
  version=$("$candidate" -c 'import ensurepip, os, sys, sysconfig
assert sys.version_info >= (3, 11) and sys.implementation.name == "cpython"
assert os.path.exists(os.path.join(sysconfig.get_path("include"), "Python.h"))
print("%d.%d" % sys.version_info[:2])' 2> /dev/null) || continue
  : "${interpreters[$version]:=$candidate}"
done
if [ ${#interpreters[@]} = 0 ]; then
  printf 'error: no Python >= 3.11 with headers was found\n\nhint: install python3-dev and python3-venv\n' >&2
  exit 1
fi

for version in $(printf '%s\n' "${!interpreters[@]}" | sort -V); do
  echo "--- Python $version: ${interpreters[$version]}"
  "${interpreters[$version]}" -m venv "$work/$version"
  pip=("$work/$version/bin/python" -m pip --quiet --disable-pip-version-check)
  "${pip[@]}" install --upgrade pip
  "${pip[@]}" wheel --no-deps --wheel-dir "$work/$version/wheel" .
  wheel=$(echo "$work/$version"/wheel/*.whl)
  "${pip[@]}" install "$wheel"
  # The example of the README, as a newcomer would run it.
  mkdir "$work/$version/try"
  sed -n '/^```python$/,/^```$/{/^```/d;p}' README.md > "$work/$version/try/example.py"
  (cd "$work/$version/try" && ../bin/python -W error example.py > output.txt && test -s output.txt)
  cp "$wheel" "$output/"
  echo "$output/$(basename "$wheel"): works"
done
