#!/bin/sh
# Finds lines that end with blanks: sh scripts/lint.sh src
if grep -rnE '[[:blank:]]+$' "$1"; then
  echo "lint: failed"
  exit 1
fi
echo "lint: ok"
