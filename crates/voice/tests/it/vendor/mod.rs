//! Vendors played by HTTP servers, one file each, built from their published documents: they check what they
//! are sent and refuse what the vendor would refuse.

pub mod mood;
