//! Every filter, by the name that the vocabulary has for it.

use super::filter::{Filter, Setup};
use super::{bytes, slide, volume};
use crate::{Error, Result};

type New = fn(Setup) -> Box<dyn Filter>;

/// How each filter of the vocabulary is made.
const FILTERS: &[(&str, New)] = &[
    ("bytes.make", |setup| Box::new(bytes::Make(setup))),
    ("bytes.pass", |_| Box::new(bytes::Pass)),
    ("bytes.check", |setup| Box::new(bytes::Check::new(setup))),
    ("blank.give", |setup| Box::new(bytes::Give(setup))),
    ("blank.count", |setup| Box::new(bytes::Count::new(setup))),
    ("slide.read", |setup| Box::new(slide::Read::new(setup))),
    ("slide.clip", |setup| Box::new(slide::Clip(setup))),
    ("slide.subsample", |_| Box::new(slide::Subsample)),
    ("slide.view", |setup| Box::new(slide::View::new(setup))),
    ("volume.read", |setup| Box::new(volume::Read::new(setup))),
    ("volume.extract", |_| Box::new(volume::Extract)),
    ("volume.raster", |setup| Box::new(volume::Raster::new(setup))),
    ("volume.merge", |setup| Box::new(volume::Merge::new(setup))),
];

/// A filter by its name.
pub fn new(name: &str, setup: Setup) -> Result<Box<dyn Filter>> {
    let unknown = || Error::usage(format!("no filter is called `{name}`"), "are both of the same version?");
    FILTERS.iter().find(|(own, _)| *own == name).map(|(_, new)| new(setup)).ok_or_else(unknown)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::vocabulary::STAGE_FILTERS;

    #[test]
    fn every_filter_of_the_vocabulary_is_made() {
        let names = STAGE_FILTERS.iter().map(|filter| filter.name);
        assert!(names.eq(FILTERS.iter().map(|(name, _)| *name)));
    }
}
