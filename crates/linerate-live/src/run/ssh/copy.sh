cd @COPY@ || exit 1;
trap "rm -f part.$$" EXIT; trap "exit 1" HUP INT TERM;
for part in part.*; do kill -0 "${part#part.}" 2> /dev/null || rm -f "$part"; done;
@UNPACK@ > part.$$ || exit 1;
whole part.$$ || { echo "what came is not what was sent" >&2; exit 1; };
chmod 700 part.$$ && mv -f part.$$ linerate || exit 1;
told=$(runs ./linerate) || { echo "$told" >&2; exit 1; };
