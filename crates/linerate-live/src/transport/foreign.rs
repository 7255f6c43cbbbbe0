//! Ways by other people's programs, and by their libraries with launchers: OpenSSH, MPI, PVM, OpenSHMEM, TCGMSG, UCX and
//! libfabric.
//!
//! What is loaded may crash, hang or print, so it is loaded in a process of its own and told from here in bounds.
//! [`library`] finds the libraries and starts that process; each other file is one of them.

pub mod library;
pub mod mpi;
pub mod native;
pub mod openssh;
pub mod pvm;
pub mod shmem;
pub mod tcgmsg;

use super::Transport;

/// What stands on this shelf.
pub static TRANSPORTS: &[&dyn Transport] =
    &[&mpi::MPI, &pvm::PVM, &shmem::SHMEM, &tcgmsg::TCGMSG, &native::UCX, &native::LIBFABRIC, &openssh::SSH];
