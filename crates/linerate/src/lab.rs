//! Virtual hosts on this machine: topology, wire, complete removal.
