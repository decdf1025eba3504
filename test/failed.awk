# Prints a log of pg_regress, TAP or cmocka without what passed, and of a long one the
# beginning and the end.
/^ *ok [0-9]|^test .* \.\.\. ok |^\[=+\]|^\[  PASSED  \]|^[0-9]+ passed, 0 failed$/ { next }
# A test that ran, unless its line OK follows
/^\[ RUN/ { running = $0; next }
/^\[ +OK/ { running = ""; next }
running != "" { line[++n] = running; running = "" }
{ line[++n] = $0 }
END {
	if (running != "")
		line[++n] = running
	for (i = 1; i <= n; i++)
		if (i <= 100 || i > n - 100)
			print line[i]
		else if (i == 101)
			print "..."
}
