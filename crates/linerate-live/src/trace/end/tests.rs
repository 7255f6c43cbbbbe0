//! What an end refuses before it plays.

use super::*;
use linerate_sys::tracer::{Point, Stamp};
use std::net::TcpListener;

/// Stamps nothing, and cannot be switched, as rings cannot.
struct Rings;

impl Stamping for Rings {
    fn lacks(&self, _: Point) -> bool {
        false
    }

    fn missing(&self) -> Vec<&'static str> {
        Vec::new()
    }

    fn is_nearly_full(&self) -> bool {
        false
    }

    fn begin(&mut self, _: Watched) -> linerate_sys::Result<()> {
        panic!("nothing is to be watched")
    }

    fn end(&mut self) -> linerate_sys::Result<(Vec<Stamp>, u64)> {
        Ok((Vec::new(), 0))
    }
}

fn end(tracer: Option<Box<dyn Stamping>>) -> End {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let socket = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    let programs = Programs { tracer, counting: None };
    End::new(socket, None, Duration::from_millis(200), programs, None).unwrap()
}

fn request() -> BlockRequest {
    BlockRequest {
        asks: true,
        bytes: 64,
        exchanges: 60,
        every: 3,
        wait: Wait::Polling,
        traced: true,
        cpu: thread::allowed_cpus().unwrap()[0],
        writes: 1,
    }
}

#[test]
fn rings_record_no_sample() {
    let error = end(Some(Box::new(Rings))).block(&request()).unwrap_err();
    assert!(error.hint().is_some_and(|hint| hint.contains("leave out --every")), "{error}");
}
