//! One end of a connection, as the programs watch it: what is written for them, and what they stamped.

use super::lanes::Lanes;
use super::switch::Switch;
use super::{Ebpf, Stamp, WATCHED, Watched, absent, encoded, failed, own_network};
use crate::Result;
use aya::maps::{Array, Map, MapData};

/// The maps of programs, by the numbers that their kernel knows them by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MapIds {
    /// What is watched.
    pub watched: u32,
    /// Where stamps are put.
    pub lanes: u32,
}

/// One end, of those that the programs have room for.
pub(super) struct Watch {
    watched: Array<MapData, [u8; WATCHED]>,
    lanes: Lanes,
    switch: Switch,
    ids: MapIds,
    end: u32,
}

impl Watch {
    /// The end of who loaded them.
    pub(super) fn of_programs(programs: &mut Ebpf) -> Result<Watch> {
        let mut map = |name| match programs.take_map(name) {
            Some(Map::Array(map)) => Ok(map),
            _ => Err(absent(name)),
        };
        Watch::new(map("watched")?, &map("lanes")?, 0)
    }

    /// The other end, of programs that another process has loaded.
    pub(super) fn of_maps(ids: MapIds) -> Result<Watch> {
        let map = |id: u32, name: &str| {
            MapData::from_id(id).map_err(|e| failed("bpf(BPF_MAP_GET_FD_BY_ID)", name, &e))
        };
        Watch::new(map(ids.watched, "watched")?, &map(ids.lanes, "lanes")?, 1)
    }

    fn new(watched: MapData, lanes: &MapData, end: u32) -> Result<Watch> {
        let id = |map: &MapData, name: &str| {
            let told = map.info().map(|info| info.id());
            told.map_err(|e| failed("bpf(BPF_OBJ_GET_INFO_BY_FD)", name, &e))
        };
        let ids = MapIds { watched: id(&watched, "watched")?, lanes: id(lanes, "lanes")? };
        let (lanes, switch) =
            (Lanes::map(lanes.fd(), end as usize)?, Switch::map(watched.fd(), end as usize)?);
        let watched = Array::try_from(Map::Array(watched));
        let watched = watched.map_err(|e| failed("bpf(BPF_OBJ_GET_INFO_BY_FD)", "watched", &e))?;
        Ok(Watch { watched, lanes, switch, ids, end })
    }

    pub(super) fn ids(&self) -> MapIds {
        self.ids
    }

    pub(super) fn switch(&self) -> Switch {
        self.switch.clone()
    }

    pub(super) fn is_nearly_full(&self) -> bool {
        self.lanes.is_nearly_full()
    }

    /// Begins to watch.
    pub(super) fn begin(&mut self, watched: Watched) -> Result<()> {
        self.cease()?;
        self.lanes.clear();
        let network = watched.network.map_or_else(own_network, Ok)?;
        self.write(encoded(network, watched, 0))
    }

    /// Ends watching.
    pub(super) fn cease(&mut self) -> Result<()> {
        self.write([0; WATCHED])
    }

    /// The stamps in the order of their times, and how many there was no room for.
    pub(super) fn take(&self) -> (Vec<Stamp>, u64) {
        self.lanes.take()
    }

    fn write(&mut self, value: [u8; WATCHED]) -> Result<()> {
        let set = self.watched.set(self.end, value, 0);
        set.map_err(|e| failed("bpf(BPF_MAP_UPDATE_ELEM)", "watched", &e))
    }
}
