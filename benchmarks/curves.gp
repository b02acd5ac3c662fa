# SPDX-License-Identifier: BSL-1.0
# Draws one curve. Usage: gnuplot -e "folder='F'; curve='C'; lines=N; x='LABEL'; scale='x'" curves.gp
set terminal svg size 800,500 font 'sans-serif,14' background 'white'
set output folder . '/' . curve . '.svg'
set title 'SQLite: transactions a second'
set xlabel x
set key outside below
set grid
set yrange [1:*]
set format y '%.0s%c'
set logscale y
if (scale eq 'log') set logscale x
plot for [at = 0:lines - 1] folder . '/' . curve . '.dat' index at using 1:2 \
    with linespoints linewidth 2 title columnheader(1)
