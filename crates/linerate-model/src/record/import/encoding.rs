//! The bytes of a file to its text: UTF-8 with or without a mark, UTF-16 as a Windows shell's `>` writes it, gzip.

use super::{LARGEST_FILE, Read, refuse};
use flate2::read::MultiGzDecoder;
use std::io::Read as _;

/// A text, and what is doubtful of it.
pub(super) struct Decoded {
    pub text: String,
    pub doubts: Vec<String>,
}

/// How a compressed file begins, what it is, and the command that unpacks it to standard output.
const PACKED: [(&[u8], &str, &str); 5] = [
    (b"\xfd7zXZ\0", "xz", "xz -dc"),
    (b"\x28\xb5\x2f\xfd", "zstd", "zstd -dc"),
    (b"BZh", "bzip2", "bzip2 -dc"),
    (b"PK\x03\x04", "zip", "unzip -p"),
    (b"\x04\x22\x4d\x18", "lz4", "lz4 -dc"),
];

const GZIP: &[u8] = b"\x1f\x8b";

/// Of so many bytes one may be no UTF-8: a host name in an old encoding, not a program.
const BYTES_A_FAULT: usize = 20;

/// The text of a file, of a length that is read.
pub(super) fn decoded(bytes: &[u8], file: &str) -> Read<Decoded> {
    if bytes.len() > LARGEST_FILE {
        return too_long();
    }
    let mut doubts = Vec::new();
    let unpacked = if bytes.starts_with(GZIP) { gunzipped(bytes, &mut doubts)? } else { bytes.to_vec() };
    if let Some((_, name, command)) = PACKED.iter().find(|(mark, ..)| unpacked.starts_with(mark)) {
        return refuse(
            format!("it is compressed ({name})"),
            format!("unpack it on the way: {command} {file} | linerate import -"),
        );
    }
    let text = characters(&unpacked, &mut doubts)?;
    // Lines that end as on an old Mac, or a progress line that overwrites itself.
    let text = if text.contains('\n') { text } else { text.replace('\r', "\n") };
    if text.trim().is_empty() {
        return refuse("it is empty", "see whether the tool ended well: most print their results last");
    }
    Ok(Decoded { text, doubts })
}

fn too_long<T>() -> Read<T> {
    let most = LARGEST_FILE >> 20;
    refuse(
        format!("it is longer than the {most} MiB that are read"),
        "import the result of one run, not a log of many",
    )
}

fn gunzipped(bytes: &[u8], doubts: &mut Vec<String>) -> Read<Vec<u8>> {
    let mut unpacked = Vec::new();
    let read = MultiGzDecoder::new(bytes).take(LARGEST_FILE as u64 + 1).read_to_end(&mut unpacked);
    if unpacked.len() > LARGEST_FILE {
        return too_long();
    }
    match read {
        Ok(_) => (),
        Err(error) if unpacked.is_empty() => {
            return refuse(format!("it is compressed (gzip) and damaged: {error}"), "give a whole file");
        }
        Err(error) => doubts.push(format!("the compressed file is damaged, and read up to there: {error}")),
    }
    Ok(unpacked)
}

fn characters(bytes: &[u8], doubts: &mut Vec<String>) -> Read<String> {
    let halves = |bytes: &[u8], half: fn([u8; 2]) -> u16| {
        let units = bytes.chunks_exact(2).map(|pair| half([pair[0], pair[1]]));
        char::decode_utf16(units).map(|c| c.unwrap_or(char::REPLACEMENT_CHARACTER)).collect::<String>()
    };
    let text = match bytes {
        [0xff, 0xfe, rest @ ..] => halves(rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => halves(rest, u16::from_be_bytes),
        [0xef, 0xbb, 0xbf, rest @ ..] => return narrow(rest, doubts),
        [_, 0, _, 0, ..] => halves(bytes, u16::from_le_bytes),
        [0, _, 0, _, ..] if bytes[1] != 0 => halves(bytes, u16::from_be_bytes),
        _ => return narrow(bytes, doubts),
    };
    if text.contains(char::REPLACEMENT_CHARACTER) {
        doubts.push("parts of it are no UTF-16 and are read as \u{fffd}".into());
    }
    if text.contains('\0') {
        return no_text();
    }
    Ok(text)
}

fn narrow(bytes: &[u8], doubts: &mut Vec<String>) -> Read<String> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Ok(text.to_owned());
    }
    let faults = bytes.utf8_chunks().filter(|chunk| !chunk.invalid().is_empty()).count();
    if bytes.contains(&0) || faults * BYTES_A_FAULT > bytes.len() {
        return no_text();
    }
    let them = if faults == 1 { "1 place of it is" } else { &format!("{faults} places of it are") };
    doubts.push(format!("{them} no UTF-8 and read as \u{fffd}"));
    Ok(String::from_utf8_lossy(bytes).into_owned())
}

fn no_text<T>() -> Read<T> {
    refuse(
        "it is no text",
        "give what the tool printed; where something packed it, unpack it on the way: COMMAND FILE | linerate import -",
    )
}
