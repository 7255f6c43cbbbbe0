//! The terminal's size.

/// Columns of the terminal on standard output; none when it is no terminal.
pub fn columns() -> Option<u16> {
    rustix::termios::tcgetwinsize(std::io::stdout())
        .ok()
        .map(|size| size.ws_col)
        .filter(|columns| *columns > 0)
}
