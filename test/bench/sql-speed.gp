# Draws nanoseconds per row in SQL.  Reads the files bars-build, bars-repeated
# and bars-scan.

set terminal svg size 760,660 font 'sans-serif,13' background 'white' noenhanced
set datafile separator "\t"
unset border
unset xtics
set ytics scale 0 nomirror
set style fill solid
set lmargin 40
set rmargin 8
unset key

# Bars of this extension have a colour of their own.
colour(label) = strstrt(label, 'cuckoo') + strstrt(label, 'filter') > 0 && label ne 'no filter' ? 0x1b9e77 : 0xbbbbbb

# Three charts, of seven, seven and ten bars.  All bars have the same height.
set multiplot
top = 1.0
do for [group in 'build repeated scan'] {
	file = 'bars-' . group
	set xrange [*:*]
	set yrange [*:*]
	stats file using 2 nooutput
	bars = STATS_records
	height = (bars + 2.2) / 30.6
	top = top - height
	set origin 0, top
	set size 1, height
	set bmargin 0.3
	set tmargin 2.2
	set label 1 group eq 'build' ? 'Building from distinct rows, ns per row' : \
		group eq 'repeated' ? 'Building from rows of 1,000 distinct keys, ns per row' : \
		'Scanning for the members of a set, ns per row' at screen 0.02, screen top + height - 0.025 left font ',14'
	set xrange [0:STATS_max * 1.08]
	set yrange [bars - 0.4:-0.6]
	plot file using (0):0:(0):2:($0 - 0.38):($0 + 0.38):(colour(strcol(1))):ytic(1) with boxxyerror lc rgb variable, \
		file using 2:0:(sprintf(' %.0f', $2)) with labels left font ',11'
}
unset multiplot
