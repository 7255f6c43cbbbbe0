//! Who knows the secret is let in, who does not gets an alert, and a long line passes both ways at once.

use super::*;
use std::net::TcpListener;

const LIMIT: Duration = Duration::from_secs(5);

fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let connecting = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
    (connecting, listener.accept().unwrap().0)
}

type Half = Result<(Opener, Sealer)>;

fn meet(one: &str, other: &str) -> (Half, Half) {
    let (connecting, accepted) = pair();
    let (one, other) = (Seal::from_secret(one).unwrap(), Seal::from_secret(other).unwrap());
    let connects = std::thread::spawn(move || one.connect(connecting, LIMIT));
    let accepts = other.accept(accepted, LIMIT);
    (connects.join().unwrap(), accepts)
}

#[test]
fn who_knows_the_secret_is_let_in() {
    let (here, there) = meet("a secret", "a secret");
    let (mut here, mut there) = (here.unwrap(), there.unwrap());
    // More than both sockets hold, at the same time.
    let long = vec![7u8; 20 << 20];
    let sent = long.clone();
    let echo = std::thread::spawn(move || {
        let send = std::thread::spawn(move || {
            there.1.write_all(&sent).unwrap();
            there.1
        });
        let mut came = vec![0; 20 << 20];
        there.0.read_exact(&mut came).unwrap();
        drop(send.join().unwrap());
        (came, there.0)
    });
    let writes = std::thread::spawn(move || {
        here.1.write_all(&long).unwrap();
        here.1
    });
    let mut came = Vec::new();
    here.0.read_to_end(&mut came).unwrap();
    assert!(came.len() == 20 << 20 && came.iter().all(|byte| *byte == 7));
    let (there, mut opener) = echo.join().unwrap();
    assert!(there.iter().all(|byte| *byte == 7));
    drop(writes.join().unwrap());
    assert_eq!(opener.read(&mut [0]).unwrap(), 0, "the end of a half is the end of the stream");
}

#[test]
fn who_does_not_know_the_secret_gets_an_alert() {
    let (here, there) = meet("a secret", "another");
    let (here, there) = (here.err().unwrap(), there.err().unwrap());
    assert!(here.to_string().contains("prove the secret to 127.0.0.1"), "{here}");
    assert!(there.to_string().contains("prove the secret to 127.0.0.1"), "{there}");
    // Nor the end that listens.
    let (mut stranger, accepted) = pair();
    let accepts =
        std::thread::spawn(move || Seal::from_secret("a secret").unwrap().accept(accepted, LIMIT).is_err());
    stranger.write_all(b"GET / HTTP/1.1\r\n\r\n").unwrap();
    let mut said = Vec::new();
    // The connection may be reset.
    let _ = stranger.read_to_end(&mut said);
    assert!(said.len() <= 7 && accepts.join().unwrap(), "{said:?}");
}

#[test]
fn who_says_nothing_is_not_waited_for() {
    let (_silent, accepted) = pair();
    let begun = Instant::now();
    let refused = Seal::from_secret("a secret").unwrap().accept(accepted, Duration::from_millis(50));
    assert!(refused.is_err() && begun.elapsed() < LIMIT);
}
