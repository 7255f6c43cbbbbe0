say system "$(uname -sm)";
command -v gzip > /dev/null 2>&1 && say packing gzip;
mine() { set -- $(ls -ldn "$1" 2> /dev/null); case "$1 $3" in d????-??-*" $uid") return 0;; esac; return 1; };
why() { case $1 in *[Rr]ead-only*) echo read-only;; *"o space left"*|*[Qq]uota*) echo full;; *) echo denied;; esac; };
room() { df -Pk "$1" 2> /dev/null | { read head; read device blocks used free rest; case $free in ""|*[!0-9]*) return 0;; esac; test "$free" -ge @KIB@; }; };
fit() {
told=$(mkdir -p "$copy" 2>&1) || { why "$told"; return; };
mine "$root" && mine "$copy" || { echo foreign; return; };
told=$({ printf "#!/bin/sh\nexit 0\n" | cat > "$copy/try.$$"; } 2>&1) && told=$(chmod 700 "$copy/try.$$" 2>&1) || { why "$told"; return; };
"$copy/try.$$" 2> /dev/null || { echo noexec; return; };
room "$copy" || { echo full; return; };
echo ready;
};
try() {
root=$3; copy=$3/@FOLDER@;
mine "$root" && mine "$copy" && whole "$copy/linerate" && runs "$copy/linerate" > /dev/null && { say place $1 present "$2"; say copy "$copy"; exit 0; };
state=$(fit); rm -f "$copy/try.$$" 2> /dev/null;
say place $1 $state "$2";
test $state = ready && { test $1 -gt $most && rmdir "$copy" "$root" 2> /dev/null; say copy "$copy"; exit 0; };
rmdir "$copy" "$root" 2> /dev/null;
};
