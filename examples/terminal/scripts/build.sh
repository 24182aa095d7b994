#!/bin/sh
# Puts what is to be deployed into build/.
if mkdir -p build && cp src/*.sh build/ && chmod +x build/*.sh; then
  echo "build: ok"
else
  echo "build: failed"
  exit 1
fi
