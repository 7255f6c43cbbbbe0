//! Many flows by few threads: every byte of every flow, and stamps of each one's own.

use super::turn::{TURN_BYTES, send};
use super::*;
use crate::pattern::buffer::Region;
use crate::vocabulary::Cache;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;

impl Ready for &UnixStream {
    fn push_now(&self, bytes: &[u8]) -> io::Result<usize> {
        linerate_sys::socket::send_now(*self, bytes)
    }

    fn pull_now(&self, bytes: &mut [u8]) -> io::Result<Option<usize>> {
        linerate_sys::socket::receive_now(*self, bytes)
    }

    fn push_go(&self) -> io::Result<()> {
        { *self }.write_all(&[0])
    }

    fn pull_go(&self) -> io::Result<()> {
        { *self }.read_exact(&mut [0])
    }
}

const LIMIT: Duration = Duration::from_secs(20);

fn block(message_bytes: u64, messages: u64, slices: u32) -> Block {
    Block { message_bytes, messages, slices, lead: 0, cache: Cache::Hot, ..Block::default() }
}

fn pairs(count: usize) -> (Vec<UnixStream>, Vec<UnixStream>) {
    (0..count).map(|_| UnixStream::pair().unwrap()).unzip()
}

fn tasks<'c>(does: &[Does], flows: &'c [UnixStream]) -> Vec<MultiplexedTask<&'c UnixStream>> {
    does.iter().map(|does| (*does, flows.iter().map(|flow| (flow, None)).collect())).collect()
}

#[test]
fn every_flow_has_all_bytes_and_stamps() {
    let blocks = [block(1, 50, 3), block(100_000, 2, 4), block(70_000, 3, 1)];
    for wait in [Wait::Sleeping, Wait::Polling] {
        let (near, far) = pairs(50);
        let [sent, came] = std::thread::scope(|scope| {
            let end = |does: &'static [Does], flows| {
                scope.spawn(move || play_multiplexed(&tasks(does, flows), wait, &blocks, LIMIT).unwrap())
            };
            let ends = [end(&[Does::Sends], &near), end(&[Does::Receives], &far)];
            ends.map(|end| end.join().unwrap())
        });
        assert_eq!((sent.len(), came.len()), (50, 50));
        for (sent, came) in sent.iter().zip(&came) {
            for (index, block) in blocks.iter().enumerate() {
                let (sent, came) = (&sent[index].flow, &came[index].flow);
                assert_eq!((sent.bytes, came.bytes), (block.bytes(), block.bytes()), "{wait}");
                assert_eq!((sent.slices_ns.len(), came.slices_ns.len()), (0, block.slices as usize));
                assert_eq!(came.duration_ns, came.slices_ns.iter().sum::<u64>());
            }
        }
    }
}

#[test]
fn a_turn_is_one_large_or_many_small_messages() {
    let turn = |bytes| {
        let (near, _far) = UnixStream::pair().unwrap();
        let block = block(bytes, 5_000, 1);
        let mut region = Region::for_blocks(&[block], Does::Sends).unwrap();
        let mut member = Member::new(Does::Sends, &block);
        let mut walk = region.walk(&block, Does::Sends);
        assert!(!send(&&near, &mut member, (&block, &Monotonic), &mut walk).unwrap());
        member
    };
    let small = turn(1);
    // As many as there is room for, at most.
    assert!((100..=TURN_BYTES as u64).contains(&small.moved), "{}", small.moved);
    assert_eq!(5_000 - small.messages, small.moved);
    assert_eq!(turn(TURN_BYTES as u64).messages, 4_999);
}

#[test]
fn both_directions_at_once_end() {
    let blocks = [block(10_000, 5, 2), block(10, 5, 2)];
    let (near, far) = pairs(20);
    let both = [Does::Receives, Does::Sends];
    let ends = std::thread::scope(|scope| {
        let end = |flows| {
            scope.spawn(move || {
                play_multiplexed(&tasks(&both, flows), Wait::Sleeping, &blocks, LIMIT).unwrap()
            })
        };
        let ends = [end(&near), end(&far)];
        ends.map(|end| end.join().unwrap())
    });
    for measured in ends {
        assert_eq!(measured.len(), 40);
        assert!(measured.iter().all(|blocks_of| blocks_of[0].flow.bytes == blocks[0].bytes()));
    }
}

#[test]
fn every_flow_has_all_its_round_trips() {
    // Messages that no socket holds at once, too: both ends must then wait for room.
    let blocks = [block(1, 1, 40), block(3_000_000, 2, 2), block(100, 50, 3)];
    for wait in [Wait::Sleeping, Wait::Polling] {
        let (near, far) = pairs(20);
        let [asked, echoed] = std::thread::scope(|scope| {
            let end = |does: &'static [Does], flows| {
                scope.spawn(move || play_multiplexed(&tasks(does, flows), wait, &blocks, LIMIT).unwrap())
            };
            let ends = [end(&[Does::Pings], &near), end(&[Does::Echoes], &far)];
            ends.map(|end| end.join().unwrap())
        });
        assert_eq!((asked.len(), echoed.len()), (20, 20));
        for (asked, echoed) in asked.iter().zip(&echoed) {
            for (index, block) in blocks.iter().enumerate() {
                let (asked, echoed) = (&asked[index].flow, &echoed[index].flow);
                assert_eq!((asked.bytes, echoed.bytes), (block.bytes(), block.bytes()), "{wait}");
                assert_eq!((asked.slices_ns.len(), echoed.slices_ns.len()), (block.slices as usize, 0));
                assert!(asked.slices_ns.iter().all(|slice| *slice > 0));
            }
        }
    }
}

#[test]
fn a_flow_that_ends_early_is_an_error() {
    for (wait, does) in [
        (Wait::Sleeping, Does::Receives),
        (Wait::Polling, Does::Receives),
        (Wait::Sleeping, Does::Pings),
        (Wait::Polling, Does::Echoes),
    ] {
        let (near, mut far) = pairs(5);
        far.pop();
        let limit = Duration::from_millis(200);
        let answer = play_multiplexed(&tasks(&[does], &near), wait, &[block(10, 5, 2)], limit);
        assert_eq!(answer.unwrap_err().exit_code(), 4);
    }
}

#[test]
fn a_threads_figures_divide_without_loss() {
    let thread = Measured {
        flow: Flow {
            start_ns: 100,
            cpu_ns: 10,
            voluntary_switches: 7,
            slices_ns: vec![1],
            ..Flow::default()
        },
        timer_slack_lowered: true,
        kept_awake: false,
        samples: Default::default(),
    };
    let member = |stamps: &[u64]| Member { stamps: stamps.to_vec(), moved: 5, ..Member::default() };
    let members = [member(&[110, 130]), member(&[105, 106]), member(&[101, 140])];
    let flows: Vec<Flow> = (0..3).map(|place| share(&thread, &members, place).flow).collect();
    assert_eq!(flows.iter().map(|flow| flow.cpu_ns).collect::<Vec<_>>(), [4, 3, 3]);
    assert_eq!(flows.iter().map(|flow| flow.voluntary_switches).sum::<u64>(), 7);
    assert_eq!(flows[0].slices_ns, [10, 20]);
    assert_eq!((flows[1].duration_ns, flows[2].duration_ns), (6, 40));
}
