# Draws bits per key over the false-positive rate: as measured (the file rates),
# by the rate specified, and beside a Bloom filter, the lower bound and Redis.

set terminal svg size 760,480 font 'sans-serif,13' background 'white'
set datafile separator "\t"
set title 'Bits per key of a stored cuckoofilter'
set xlabel 'false-positive rate'
set ylabel 'bits per key'
set logscale x 10
set format x '10^{%T}'
set xrange [0.15:4e-7]
set yrange [0:32]
set grid lt 1 lw 0.5 lc rgb '#dddddd'
set key top left Left reverse
set border 3 lc rgb '#666666'
set tics nomirror

set samples 500

log2(x) = log(x) / log(2)

# A full dense filter for the rate x that is specified.  Fingerprints have whole
# bits f.  A lookup compares eight entries, at a load of 0.965, and an entry has
# f - 1 bits.
fingerprint_bits(x) = ceil(log2(8 * 0.965 / x + 1))
asked(x) = (fingerprint_bits(x) - 1) / 0.965

# CF.RESERVE by default: buckets of two entries of 8 bits, so that a lookup
# compares four at a rate of 4 / 255.  Such buckets can be 84 % full (Fan et al.,
# section 5.1).
set label 1 'Redis, by default' at 4.0 / 255, 8 / 0.84 right point pt 2 ps 1.2 lw 2 lc rgb '#b0104c' offset -0.8, 0.5 tc rgb '#b0104c'

plot 1.44 * log2(1 / x) with lines lw 2 dt 2 lc rgb '#d95f02' title 'best Bloom filter: 1.44 log_2(1 / rate)', \
	log2(1 / x) with lines lw 2 dt 3 lc rgb '#666666' title 'information-theoretic lower bound: log_2(1 / rate)', \
	(x <= 0.1 ? asked(x) : 1/0) with lines lw 1.5 lc rgb '#7fc9ae' title 'dense, by the rate specified', \
	'rates' using (strcol(2) eq 'sparse' ? $4 : 1/0):3 with points pt 4 ps 0.9 lw 2 lc rgb '#7570b3' title 'sparse, a third of the capacity, by the rate measured', \
	'rates' using (strcol(2) eq 'dense' ? $4 : 1/0):3 with points pt 7 ps 0.8 lc rgb '#1b9e77' title 'dense, at its capacity, by the rate measured'
