/* What lets TCGMSG's static objects be part of a shared library: names by which they find what a shared library may not
 * refer to by its place, and what only a Fortran main program has. */
#include <stdio.h>

FILE *tcgmsg_stdin, *tcgmsg_stdout, *tcgmsg_stderr;

__attribute__((constructor)) static void streams(void) {
    tcgmsg_stdin = stdin;
    tcgmsg_stdout = stdout;
    tcgmsg_stderr = stderr;
}

/* tcg_pbegin is given its arguments. */
int _gfortran_iargc(void) { return 0; }
void _gfortran_getarg_i8(void) {}
