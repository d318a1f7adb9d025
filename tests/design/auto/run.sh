#!/bin/sh
# Fold curves of `two-bar-roller` by AUTO-07p: made with version 0.9.2 (Debian 12: auto-07p 0.9.2+dfsg-3+b3, gfortran 12.2).
# Columns of roller_ks.txt and roller_h.txt: the parameter, p, x, y, u at limit points, as AUTO prints them.
set -e
cd "$(mktemp -d)"
gfortran -O2 -o roller "$OLDPWD/roller.f90" /usr/lib/auto-07p/lib/*.o -lgomp
constants() {
    echo "NDIM=3, IPS=1, IRS=$1, ILP=1
ICP=[$2]
NTST=15, NCOL=4, IAD=3, ISP=2, ISW=$3, IPLT=0, NBC=0, NINT=0
NMX=300, NPR=1000, MXBF=0, IID=2, ITMX=9, ITNW=9, NWTN=9, JAC=1
EPSL=1e-10, EPSU=1e-10, EPSS=1e-9
DS=$4, DSMIN=1e-6, DSMAX=0.05, IADS=1
NPAR=3, THL={}, THU={}
UZSTOP={$5}" > fort.2
    ./roller > log.txt 2>&1
}
constants 0 1 1 0.005 "1: [-0.06, 0.06]"
cp fort.8 first
cp first fort.3
constants 2 1,2 2 -0.005 "2: [0.02, 3]"
grep -v "^   0" fort.7 | awk '{print $NF, $5, $7, $8, $9}' > "$OLDPWD/roller_ks.txt"
cp first fort.3
constants 2 1,3 2 0.005 "3: [0.1, 1.5]"
grep -v "^   0" fort.7 | awk '{print $NF, $5, $7, $8, $9}' > "$OLDPWD/roller_h.txt"
