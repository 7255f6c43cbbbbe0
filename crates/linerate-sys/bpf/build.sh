#!/bin/sh
# Builds the objects that are committed: with clang 14, so that they are the same byte for byte. FOLDER is another place for them.
set -eu
cd "$(dirname "$0")"
folder=${1:-.}
for name in stages stream; do
	clang -target bpf -mcpu=v3 -O2 -g -Wall -Werror -fdebug-prefix-map="$PWD=." -c "$name.bpf.c" -o "$folder/$name.bpf.o"
	llvm-strip -g "$folder/$name.bpf.o"
done
