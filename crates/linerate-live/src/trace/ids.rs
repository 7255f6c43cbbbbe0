//! Which message a stamp is of, by the id that it carries.

/// What the id of a stamp says.
pub enum Ids {
    /// The place of a message's last byte in the stream.
    Bytes {
        /// Where the calls end in which a message goes; the last one is its end.
        cuts: Vec<usize>,
        /// Bytes that are sent before the first message.
        ahead: u64,
    },
    /// The number of a datagram: the exchange of each that was sent.
    Datagrams(Vec<usize>),
}

/// Which message a stamp is of.
#[derive(Debug, PartialEq, Eq)]
pub enum Of {
    /// The message of this exchange.
    Exchange(usize),
    /// One of the parts before a message's last one, or what is ahead of all.
    Part,
    /// No message.
    None,
}

impl Ids {
    /// Of another byte than a message's last one it is of no message.
    #[inline]
    pub fn message_of(&self, id: u32, exchanges: usize) -> Of {
        let (cuts, ahead) = match self {
            Ids::Datagrams(sent) => return sent.get(id as usize).map_or(Of::None, |at| Of::Exchange(*at)),
            Ids::Bytes { cuts, ahead } => (cuts, *ahead),
        };
        let Some(behind) = (u64::from(id) + 1).checked_sub(ahead) else { return Of::None };
        // What is ahead of the messages has stamps too.
        if behind == 0 {
            return Of::Part;
        }
        let message_bytes = cuts.last().map_or(1, |end| (*end).max(1)) as u64;
        let exchange = usize::try_from(behind / message_bytes).unwrap_or(usize::MAX);
        let within = behind % message_bytes;
        // Of a message that goes in several calls the last one counts.
        if within != 0 && cuts.contains(&(within as usize)) && exchange < exchanges {
            return Of::Part;
        }
        if within != 0 || exchange > exchanges { Of::None } else { Of::Exchange(exchange - 1) }
    }
}
