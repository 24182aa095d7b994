#!/bin/sh
# Copies the build to where an environment has its programs: sh scripts/deploy.sh prod
if [ -d build ] && mkdir -p "deployed/$1" && cp build/* "deployed/$1/"; then
  echo "deploy: ok"
else
  echo "deploy: failed"
  exit 1
fi
