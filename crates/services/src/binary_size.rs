//! Sizes of disks, memory and files as text.

const MIB: u64 = 1024 * 1024;
const GIB: u64 = 1024 * MIB;

/// Formats a size in MiB, from 10 GiB on in GiB. Rounds down.
pub(crate) fn binary_size(bytes: u64) -> String {
    if bytes < 10 * GIB {
        format!("{} MiB", bytes / MIB)
    } else {
        format!("{} GiB", bytes / GIB)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_from_ten_gib_on_are_in_gib() {
        assert_eq!(binary_size(MIB - 1), "0 MiB");
        assert_eq!(binary_size(10 * GIB - 1), "10239 MiB");
        assert_eq!(binary_size(10 * GIB), "10 GiB");
        assert_eq!(binary_size(57_180 * MIB), "55 GiB");
    }
}
