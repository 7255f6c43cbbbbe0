# Reads the output of `cargo test -- --show-output` and prints what happened:
#
#     passed N
#     failed N
#     skip NAME<tab>WHY       one line a skipped test
#     broke PATH              one line a failed test, by its path inside its binary; none of a crash
#
# NAME is the test's binary and path: `linerate::lab::tests::hosts_vanish`. A test is skipped when it
# is ignored, or when it printed `SKIP: name: why` and returned; cargo counts the latter as passed. A
# test binary that ended without a result (a crash) counts as one failure.

function close_binary() { if (running) failed++; running = 0 }

/^ +Running .*\(.*\)$/ {
    close_binary()
    running = 1
    binary = $NF
    gsub(/^.*\/|-[0-9a-f]+\)$|\)$/, "", binary)
}

/^ +Doc-tests / { close_binary(); running = 1; binary = "doc " $NF }

/^successes:$/ { in_successes = 1 }
/^failures:$/ { in_successes = 0 }

/^---- .* stdout ----$/ { test = substr($0, 6, length($0) - 17) }

/^SKIP: / && in_successes {
    why = $0
    sub(/^SKIP: [^ ]*: /, "", why)
    skips[binary "::" test] = why
}

# A part is a process that tests start from their own binary, and no test.
/^test .* \.\.\. ignored, a part/ { next }

/^test .* \.\.\. ignored/ {
    name = why = $0
    sub(/^test /, "", name)
    sub(/ \.\.\. ignored.*$/, "", name)
    sub(/^.* \.\.\. ignored(, )?/, "", why)
    skips[binary "::" name] = why == "" ? "ignored" : why
    ignored++
}

/^test .* \.\.\. FAILED$/ { broke[$2] = 1 }

/^test result: / {
    in_successes = running = 0
    passed += $4
    failed += $6
}

END {
    close_binary()
    for (name in skips) skipped++
    print "passed " passed - (skipped - ignored)
    print "failed " failed + 0
    for (name in skips) print "skip " name "\t" skips[name]
    for (name in broke) print "broke " name
}
