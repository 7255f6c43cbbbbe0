//! The HTML report in a browser: what is drawn, what can be done with it, who can use it.

mod browser;
mod devtools;
mod harness;
mod matrix;
mod report;
mod stages;
mod tab;
