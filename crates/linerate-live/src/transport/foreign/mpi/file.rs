//! A file that all ranks have open: where it is, and how it is read and written.

use crate::pattern::{FileOrder, Filing, RowView};
use crate::transport::Spec;
use linerate_sys::mpi::{Access, Handle, Rank, Rows};
use std::ffi::CString;
use std::io;
use std::path::Path;

/// A disk rather than memory, by the hierarchy standard.
const FOLDER: &str = "/var/tmp";

/// What was asked for.
pub fn from_spec(spec: &Spec) -> FileOrder {
    FileOrder {
        folder: spec.value("mpi.file-folder").map(str::to_owned),
        independent: spec.value("mpi.file-access") == Some("independent"),
        tiles: spec.value("mpi.file-view") == Some("tiles"),
    }
}

/// A rank as the loops over files see it.
pub struct RankFile<'r, H>(pub &'r mut Rank<H>);

impl<H: Handle> Filing for RankFile<'_, H> {
    fn ranks(&self) -> usize {
        self.0.ranks()
    }

    fn number(&self) -> usize {
        self.0.rank()
    }

    fn barrier(&mut self) -> io::Result<()> {
        self.0.barrier()
    }

    /// The first rank names it; its name goes when all have it open, so that nothing is left of it whoever is killed.
    fn open(&mut self, order: &FileOrder, view: Option<RowView>) -> io::Result<()> {
        let mut name = rand::random::<u128>().to_ne_bytes();
        self.0.broadcast(&mut name, 0)?;
        let folder = Path::new(order.folder.as_deref().unwrap_or(FOLDER));
        let path = folder.join(format!(".linerate-{:032x}", u128::from_ne_bytes(name)));
        let access = if order.independent { Access::Independent } else { Access::Collective };
        let text = CString::new(path.to_string_lossy().as_bytes()).map_err(io::Error::other)?;
        let opened = self.0.open_file(&text, access);
        if let Err(error) = opened {
            // Who opened it first has made it, though others could not.
            let _ = std::fs::remove_file(&path);
            return Err(io::Error::other(format!("{} of {}: {}", error.call, error.object, error.source)));
        }
        self.0.barrier()?;
        if self.0.rank() == 0 {
            std::fs::remove_file(&path)?;
        }
        self.0.barrier()?;
        let Some(view) = view else { return Ok(()) };
        let number =
            |value: u64| i32::try_from(value).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput));
        let (rows, row, pitch) = (number(view.rows)?, number(view.row)?, number(view.pitch)?);
        self.0.view_rows(Rows { at: view.at as i64, rows, row, pitch })
    }

    fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        self.0.write_file(at as i64, bytes)
    }

    fn read(&mut self, at: u64, room: &mut [u8]) -> io::Result<()> {
        self.0.read_file(at as i64, room)
    }

    fn close(&mut self) -> io::Result<()> {
        self.0.close_file()
    }
}
