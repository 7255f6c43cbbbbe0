cd @COPY@ || exit 1;
host=$(uname -n); part=part.$host.$$;
trap "rm -f \"$part\"" EXIT; trap "exit 1" HUP INT TERM;
for left in part."$host".*; do kill -0 "${left##*.}" 2> /dev/null || rm -f "$left"; done;
@UNPACK@ > "$part" || exit 1;
whole "$part" || { echo "what came is not what was sent" >&2; exit 1; };
chmod 700 "$part" && { whole linerate || mv -f "$part" linerate; } || exit 1;
told=$(runs ./linerate) || { echo "$told" >&2; exit 1; };
