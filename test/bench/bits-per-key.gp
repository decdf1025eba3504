# Draws bits per key over the measured false-positive rate.  Reads the file
# rates.

set terminal svg size 760,480 font 'sans-serif,13' background 'white'
set datafile separator "\t"
set title 'Bits per key of a stored cuckoofilter'
set xlabel 'false-positive rate, measured'
set ylabel 'bits per key'
set logscale x 10
set format x '10^{%T}'
set xrange [0.15:4e-7]
set yrange [0:32]
set grid lt 1 lw 0.5 lc rgb '#dddddd'
set key top left Left reverse
set border 3 lc rgb '#666666'
set tics nomirror

log2(x) = log(x) / log(2)

plot 1.44 * log2(1 / x) with lines lw 2 dt 2 lc rgb '#d95f02' title 'Bloom filter: 1.44 log_2(1/{/Symbol e})', \
	log2(1 / x) with lines lw 2 dt 3 lc rgb '#666666' title 'bound: log_2(1/{/Symbol e})', \
	'rates' using (strcol(2) eq 'sparse' ? $5 : 1/0):4 with points pt 4 ps 0.9 lw 2 lc rgb '#7570b3' title 'sparse, a third of the capacity', \
	'rates' using (strcol(2) eq 'dense' ? $5 : 1/0):4 with points pt 7 ps 0.8 lc rgb '#1b9e77' title 'dense, at its capacity'
