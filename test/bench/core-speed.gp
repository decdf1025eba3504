# Nanoseconds per key in the core, by operation and number of keys, both
# representations.
# Reads the file speed.

set terminal svg size 760,640 font 'sans-serif,13' background 'white'
set datafile separator "\t"
set grid y lt 1 lw 0.5 lc rgb '#dddddd'
set border 3 lc rgb '#666666'
set tics nomirror
set xtics scale 0
set style fill solid
set boxwidth 0.24
set logscale y 2
set yrange [4:1024]
set ylabel 'ns per key'
set key top left Left reverse

sizes = system("cut -f1 speed | uniq | sort -n | uniq")
parts = 'build negative positive insert remove'
colours = '#a6dbc8 #1b9e77 #0b4a37'
set xrange [0.4:words(parts) + 0.6]
set xtics ('build' 1, 'look up, absent' 2, 'look up, present' 3, 'add' 4, 'remove' 5)

# The place of a part on the axis; none for those that are not drawn.
place(part) = part eq 'build' ? 1 : part eq 'negative' ? 2 : part eq 'positive' ? 3 : \
	part eq 'insert' ? 4 : part eq 'remove' ? 5 : 1/0
name(size) = sprintf('%g million keys', size / 1e6)

set multiplot layout 2, 1
do for [representation in 'dense sparse'] {
	set title representation
	plot for [i = 1:words(sizes)] 'speed' \
		using ($1 == word(sizes, i) + 0 && strcol(2) eq representation ? place(strcol(3)) + (i - 2) * 0.27 : 1/0):5 \
		with boxes lc rgb word(colours, i) title name(word(sizes, i) + 0), \
		for [i = 1:words(sizes)] 'speed' \
		using ($1 == word(sizes, i) + 0 && strcol(2) eq representation ? place(strcol(3)) + (i - 2) * 0.27 : 1/0):5:(sprintf('%.0f', $5)) \
		with labels offset 0,0.5 font ',9' notitle
}
unset multiplot
