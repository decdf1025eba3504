# Draws nanoseconds per key over the number of keys, for lookups and builds in
# the core, in both representations.  The time of one read of memory is drawn
# beside lookups.  Reads the file speed.medians.

set terminal svg size 760,400 font 'sans-serif,13' background 'white'
set datafile separator "\t"
set datafile missing NaN
set grid lt 1 lw 0.5 lc rgb '#dddddd'
set border 3 lc rgb '#666666'
set tics nomirror
set logscale xy
set xrange [7000:1.2e8]
set xtics ('10k' 1e4, '100k' 1e5, '1M' 1e6, '10M' 1e7, '60M' 6e7)
set xlabel 'keys'
set key top left Left reverse samplen 2 opaque

# The nanoseconds of a line if it has this label, else nothing
of(label) = strcol(2) eq label ? $3 : 1/0

set multiplot layout 1, 2
set title 'Looking up an absent key'
set ylabel 'ns per key'
set yrange [2:4000]
plot 'speed.medians' using 1:(of('sparse: absent')) with linespoints lw 2 pt 4 lc rgb '#7570b3' title 'sparse', \
	'' using 1:(of('dense: absent')) with linespoints lw 2 pt 7 lc rgb '#1b9e77' title 'dense', \
	'' using 1:(of('dense: read')) with lines lw 2 dt 3 lc rgb '#666666' title 'one read of memory'
set title 'Building from hashes in any order'
set yrange [10:300]
plot 'speed.medians' using 1:(of('sparse: build')) with linespoints lw 2 pt 4 lc rgb '#7570b3' title 'sparse', \
	'' using 1:(of('dense: build')) with linespoints lw 2 pt 7 lc rgb '#1b9e77' title 'dense'
unset multiplot
