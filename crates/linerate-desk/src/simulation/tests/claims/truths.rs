//! What the numbers of each conclusion are where it holds and where it does not: where a paper states them its own, in
//! bits a second and nanoseconds, else such as its sentence means.

use super::Trio;

/// What is put in.
#[derive(Debug, Clone, Copy)]
pub enum Truth {
    /// A number, and what it is set against.
    Of(f64, f64),
    /// A number that stands alone.
    Alone(f64),
    /// The power with which it grows.
    Power(f64),
    /// A number at nothing, and by how much it grows with each of what it grows with.
    Slope(f64, f64),
}

use Truth::{Alone, Of, Power, Slope};

const fn trio(suite: &'static str, says: &'static str, holds: Truth, fails: Truth) -> Trio {
    Trio { suite, says, holds, fails }
}

/// A line a claim.
pub const TRUTHS: &[Trio] = &[
    trio("libraries", "a light layer loses next to nothing", Of(9.3e9, 9.4e9), Of(8.4e9, 9.4e9)),
    trio("libraries", "a half round trip by a light layer", Of(10.4e3, 10e3), Of(12e3, 10e3)),
    trio("libraries", "of large messages Open MPI carries", Of(530e6, 550e6), Of(400e6, 550e6)),
    trio("libraries", "of large messages MPICH loses a quarter", Of(395e6, 550e6), Of(520e6, 550e6)),
    trio("libraries", "a half round trip by Open MPI takes less", Of(15e3, 10e3), Of(30e3, 10e3)),
    trio("libraries", "a half round trip by MPICH takes less", Of(15e3, 10e3), Of(30e3, 10e3)),
    trio("libraries", "a half round trip by MPICH takes at most a fifth", Of(11e3, 10e3), Of(13e3, 10e3)),
    trio("libraries", "of large messages MPICH carries at least 95 %", Of(9.2e9, 9.4e9), Of(8e9, 9.4e9)),
    trio("libraries", "socket buffers of 1 MiB gain Open MPI", Of(9e9, 8e9), Of(7e9, 8e9)),
    trio("libraries", "socket buffers of 1 MiB gain MPICH", Of(375e6, 75e6), Of(70e6, 75e6)),
    trio("libraries", "asking the receiver first costs Open MPI", Of(80e3, 60e3), Of(59e3, 60e3)),
    trio("libraries", "asking the receiver first costs MPICH", Of(56e3, 21e3), Of(20e3, 21e3)),
    trio("libraries", "a connection of the tasks gains PVM", Of(330e6, 90e6), Of(85e6, 90e6)),
    trio("libraries", "data that is sent from where it lies", Of(415e6, 330e6), Of(320e6, 330e6)),
    trio("libraries", "of large messages tuned PVM loses", Of(395e6, 550e6), Of(500e6, 550e6)),
    trio("libraries", "of large messages tuned LAM carries", Of(540e6, 550e6), Of(350e6, 550e6)),
    trio("san", "throughput falls off above 400 KiB", Of(1.2e9, 2.4e9), Of(2.4e9, 2.4e9)),
    trio("san", "of large messages LAM carries", Of(1.9e9, 1.9e9), Of(1.2e9, 1.9e9)),
    trio("san", "of large messages Open MPI carries", Of(1.9e9, 1.9e9), Of(1.2e9, 1.9e9)),
    trio("san", "of large messages MPICH carries", Of(1.9e9, 1.9e9), Of(1.2e9, 1.9e9)),
    trio("san", "a plain application gets at most", Of(0.68e9, 1e9), Of(0.98e9, 1e9)),
    trio("san", "a plain application's stream through LAM falls", Of(0.1e9, 1e9), Of(0.9e9, 1e9)),
    trio("adapter", "larger segments carry more", Of(2.7e9, 1.8e9), Of(1.7e9, 1.8e9)),
    trio("adapter", "larger socket buffers carry more", Of(3.6e9, 2.7e9), Of(2.6e9, 2.7e9)),
    trio("adapter", "the host binds, not memory", Of(12.8e9, 4.11e9), Of(12.8e9, 9.4e9)),
    trio("adapter", "the adapter does not bind: streams to one", Of(5.4e9, 5.4e9), Of(8e9, 5.4e9)),
    trio("adapter", "the adapter does not bind: streams from one", Of(5.4e9, 5.4e9), Of(8e9, 5.4e9)),
    trio("adapter", "a small buffer binds by its window", Alone(0.8), Alone(0.3)),
    trio("sockets", "a connection is set up in less", Alone(60e3), Alone(4e6)),
    trio("sockets", "polling is at least 1.7 times quicker", Of(30e3, 10e3), Of(15e3, 10e3)),
    trio("sockets", "what an adapter takes off the host", Of(6.4e9, 5e9), Of(4.8e9, 5e9)),
    trio("sockets", "both ways together carry more", Of(7e9, 6.4e9), Of(6e9, 6.4e9)),
    trio("sockets", "several streams carry no less", Of(6.3e9, 6.4e9), Of(5e9, 6.4e9)),
    trio("sockets", "the half round trip of a hot spot grows with", Power(0.6), Power(-0.2)),
    trio("sockets", "the half round trip of a hot spot grows less", Power(0.6), Power(1.3)),
    trio("sockets", "a receiver takes from eight senders", Of(6.3e9, 6.4e9), Of(5e9, 6.4e9)),
    trio("sockets", "a sender gives eight receivers", Of(6.1e9, 6.4e9), Of(5e9, 6.4e9)),
    trio("sockets", "an update of the microscope", Of(4e6, 2e6), Of(1.8e6, 2e6)),
    trio("sockets", "a monitor's round of 10 KiB", Of(1.2e6, 1.1e6), Of(2e6, 1e6)),
    trio("sockets", "one server gives three clients", Of(6.3e9, 6.4e9), Of(5e9, 6.4e9)),
    trio("sockets", "three servers give one client", Of(6.3e9, 6.4e9), Of(5e9, 6.4e9)),
    trio("sockets", "tiles whose rows are asked for one by one are read", Of(3e9, 6e9), Of(6.5e9, 6e9)),
    trio("sockets", "tiles whose rows are asked for one by one are written", Of(3e9, 6e9), Of(6.5e9, 6e9)),
    trio("grid", "the best application buffer need not", Of(9.4e9, 9.3e9), Of(7e9, 9.3e9)),
    trio("grid", "small buffers cost throughput", Of(1e9, 9.4e9), Of(6e9, 9.4e9)),
    trio("grid", "sendfile() costs the sender's CPU less", Of(0.2, 1.0), Of(1.1, 1.0)),
    trio("grid", "a socket buffer below the path's product", Of(0.3e9, 9e9), Of(8.8e9, 9e9)),
    trio("grid", "streams beside an exchange cost it", Of(6e3, 60e3), Of(61e3, 60e3)),
    trio("grid", "streams beside it lengthen the median", Of(5e6, 0.2e6), Of(300e6, 0.2e6)),
    trio("packet-filter", "10 000 rules of iptables carry less", Of(4.5e9, 9.5e9), Of(9e9, 9.5e9)),
    trio("packet-filter", "1000 rules of iptables cost no", Of(9244.9e6, 9323.5e6), Of(8e9, 9323.5e6)),
    trio("packet-filter", "each rule of iptables lengthens", Slope(487.9e3, 62.9), Slope(487.9e3, -20.0)),
    trio("packet-filter", "20 000 rules of iptables make", Of(1745e3, 487.9e3), Of(900e3, 487.9e3)),
    trio("packet-filter", "states of connections behind", Of(7759.9e6, 7799.8e6), Of(6e9, 7799.8e6)),
    trio("packet-filter", "where rules are looked up at once their", Of(9.5e9, 9.5e9), Of(7e9, 9.5e9)),
    trio("packet-filter", "where rules are looked up at once a", Of(485e3, 460e3), Of(700e3, 460e3)),
    trio("transfer", "of a file of 100 MB GridFTP by four", Of(2304e6, 654.4e6), Of(600e6, 654.4e6)),
    trio("transfer", "parallel streams carry a long file", Of(3531.2e6, 1954.4e6), Of(1.9e9, 1954.4e6)),
    trio("transfer", "what a program takes to begin", Of(56e6, 1576.8e6), Of(1e9, 1576.8e6)),
    trio("transfer", "scp gains nothing from a longer file", Of(699.2e6, 654.4e6), Of(900e6, 654.4e6)),
];
