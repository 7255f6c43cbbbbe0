LC_ALL=C; export LC_ALL; umask 077; uid=$(id -u);
say() { echo "linerate-copy $*"; };
whole() { test -f "$1" && test "$(wc -c < "$1")" -eq @LEN@ && { command -v sha256sum > /dev/null 2>&1 || return 0; test "$(sha256sum < "$1" | cut -c1-64)" = @DIGEST@; }; };
runs() { LINERATE_CONFIG= "$1" --version < /dev/null 2>&1; };
