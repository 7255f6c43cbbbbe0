#!/bin/sh
# Builds the object that is committed: with clang 14, so that it is the same byte for byte. OUTPUT is another place for it.
set -eu
cd "$(dirname "$0")"
output=${1:-stages.bpf.o}
clang -target bpf -mcpu=v3 -O2 -g -Wall -Werror -fdebug-prefix-map="$PWD=." -c stages.bpf.c -o "$output"
llvm-strip -g "$output"
