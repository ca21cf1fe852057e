//! The classes of addresses that are not public.
//!
//! They follow the IANA registries for special-purpose addresses, with two differences that both reject more. Metadata
//! services' addresses are a separate class, even where they are ordinary unicast addresses. And IPv6 is rejected
//! outside the range that is assigned for global unicast. An IPv6 address that embeds an IPv4 address has the embedded
//! one's class, because a translator or a tunnel would connect to that. No address may be public here because a list of
//! IPv6 ranges lacks it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A class of addresses that are not public.
///
/// ```
/// use haft_http::AddressClass;
///
/// assert_eq!(AddressClass::of([127, 0, 0, 1].into()), Some(AddressClass::Loopback));
/// assert_eq!(AddressClass::of("::ffff:10.0.0.1".parse()?), Some(AddressClass::Private));
/// assert_eq!(AddressClass::of([8, 8, 8, 8].into()), None);
/// # Ok::<_, std::net::AddrParseError>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum AddressClass {
    /// No address, or one in "this network": `0.0.0.0/8`, `::`.
    Unspecified,
    /// The machine itself: `127.0.0.0/8`, `::1`.
    Loopback,
    /// A private network: `10.0.0.0/8`, `172.16.0.0/12`, `192.168.0.0/16`.
    Private,
    /// A provider's network behind its translator: `100.64.0.0/10`.
    Shared,
    /// One link: `169.254.0.0/16`, `fe80::/10`.
    LinkLocal,
    /// A local IPv6 network: `fc00::/7`, and formerly `fec0::/10`.
    UniqueLocal,
    /// A cloud's metadata service, which hands out credentials.
    Metadata,
    /// A group of machines: `224.0.0.0/4`, `ff00::/8`.
    Multicast,
    /// All machines in a network: `255.255.255.255`.
    Broadcast,
    /// Examples in texts: `192.0.2.0/24`, `198.51.100.0/24`, `203.0.113.0/24`, `2001:db8::/32`, `3fff::/20`.
    Documentation,
    /// Network measurements: `198.18.0.0/15`, `2001:2::/48`.
    Benchmarking,
    /// Ranges for protocols or for the future.
    Reserved,
}

impl AddressClass {
    /// Returns an address's class, or `None` if the address is public.
    #[must_use]
    pub fn of(address: IpAddr) -> Option<Self> {
        match address {
            IpAddr::V4(address) => of_v4(address),
            IpAddr::V6(address) => of_v6(address),
        }
    }

    /// Returns the class with its article, for messages.
    pub(crate) fn phrase(self) -> &'static str {
        match self {
            Self::Unspecified => "an unspecified address",
            Self::Loopback => "a loopback address",
            Self::Private => "a private address",
            Self::Shared => "a shared address",
            Self::LinkLocal => "a link-local address",
            Self::UniqueLocal => "a unique local address",
            Self::Metadata => "the address of a metadata service",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::Documentation => "a documentation address",
            Self::Benchmarking => "a benchmarking address",
            Self::Reserved => "a reserved address",
        }
    }
}

/// Returns the IPv4 addresses that an IPv6 address embeds: one, or two in a Teredo address.
pub(super) fn embedded(address: Ipv6Addr) -> impl Iterator<Item = Ipv4Addr> {
    let pair = |high: u16, low: u16| Some(Ipv4Addr::from(u32::from(high) << 16 | u32::from(low)));
    let found = match address.segments() {
        // Unspecified and loopback, which are no IPv4-compatible addresses.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => [None, None],
        // Teredo: the server, and the client with its bits inverted.
        [0x2001, 0, server_high, server_low, _, _, high, low] => [pair(server_high, server_low), pair(!high, !low)],
        // In this order: IPv4-compatible and IPv4-mapped, IPv4-translated (SIIT), NAT64 with the well-known prefix,
        // 6to4, and ISATAP.
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0, 0, 0, 0, 0xffff, 0, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..]
        | [_, _, _, _, 0 | 0x200, 0x5efe, high, low] => [pair(high, low), None],
        _ => [None, None],
    };
    found.into_iter().flatten()
}

fn of_v4(address: Ipv4Addr) -> Option<AddressClass> {
    Some(match address.octets() {
        // In this order: the usual one, those in containers, Alibaba Cloud, Oracle Cloud and Azure.
        [169, 254, 169, 254]
        | [169, 254, 170, 2 | 23]
        | [100, 100, 100, 200]
        | [192, 0, 0, 192]
        | [168, 63, 129, 16] => AddressClass::Metadata,
        [0, ..] => AddressClass::Unspecified,
        [127, ..] => AddressClass::Loopback,
        [10, ..] | [172, 16..=31, ..] | [192, 168, ..] => AddressClass::Private,
        [100, 64..=127, ..] => AddressClass::Shared,
        [169, 254, ..] => AddressClass::LinkLocal,
        [224..=239, ..] => AddressClass::Multicast,
        [255, 255, 255, 255] => AddressClass::Broadcast,
        [192, 0, 2, _] | [198, 51, 100, _] | [203, 0, 113, _] => AddressClass::Documentation,
        [198, 18 | 19, ..] => AddressClass::Benchmarking,
        // IETF assignments, 6to4 relays, and class E.
        [192, 0, 0, _] | [192, 88, 99, _] | [240..=255, ..] => AddressClass::Reserved,
        _ => return None,
    })
}

fn of_v6(address: Ipv6Addr) -> Option<AddressClass> {
    if let Some(class) = embedded(address).find_map(of_v4) {
        return Some(class);
    }
    Some(match address.segments() {
        [0, 0, 0, 0, 0, 0, 0, 0] => AddressClass::Unspecified,
        [0, 0, 0, 0, 0, 0, 0, 1] => AddressClass::Loopback,
        // Amazon (instances, containers) and Google.
        [0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254 | 0x23] | [0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254] => AddressClass::Metadata,
        [0xfc00..=0xfdff | 0xfec0..=0xfeff, ..] => AddressClass::UniqueLocal,
        [0xfe80..=0xfebf, ..] => AddressClass::LinkLocal,
        [0xff00..=0xffff, ..] => AddressClass::Multicast,
        [0x2001, 0xdb8, ..] | [0x3fff, 0..=0xfff, ..] => AddressClass::Documentation,
        [0x2001, 2, 0, ..] => AddressClass::Benchmarking,
        // IETF assignments, Teredo included.
        [0x2001, 0..=0x1ff, ..] => AddressClass::Reserved,
        // Global unicast, and the two forms of IPv4 addresses in use, where the embedded address is public.
        [0x2000..=0x3fff, ..] | [0, 0, 0, 0, 0, 0xffff, _, _] | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => return None,
        _ => AddressClass::Reserved,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;

    use super::AddressClass;

    fn class(text: &str) -> Option<AddressClass> {
        AddressClass::of(text.parse().unwrap())
    }

    #[test]
    fn special_addresses_have_their_class() {
        use AddressClass::{
            Benchmarking, Broadcast, Documentation, LinkLocal, Loopback, Metadata, Multicast, Private, Reserved,
            Shared, UniqueLocal, Unspecified,
        };
        let table = [
            (Unspecified, "0.0.0.0 0.1.2.3 0.255.255.255 :: ::0.0.0.2 ::ffff:0.0.0.0 64:ff9b::"),
            (Loopback, "127.0.0.0 127.0.0.1 127.255.255.255 ::1 ::127.0.0.1 ::ffff:127.0.0.1 ::ffff:0:127.0.0.1"),
            (Loopback, "64:ff9b::127.0.0.1 2002:7f00:1:: 2001:0:7f00:1::1 2001:0:808:808::80ff:fffe"),
            (Private, "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255"),
            (Private, "::ffff:10.0.0.1 ::ffff:c0a8:101 2002:a00:1::1 2a00:1::5efe:10.0.0.1 2a00:1::200:5efe:10.0.0.1"),
            (Shared, "100.64.0.0 100.127.255.255 64:ff9b::100.64.0.1"),
            (LinkLocal, "169.254.0.1 169.254.169.253 fe80::1 febf:ffff::1"),
            (UniqueLocal, "fc00::1 fd12:3456::1 fdff:ffff::1 fec0::1"),
            (Metadata, "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254"),
            (Metadata, "::ffff:169.254.169.254 64:ff9b::169.254.169.254 2002:a9fe:a9fe:: fd20:ce::254 fd00:ec2::23"),
            (Multicast, "224.0.0.1 239.255.255.255 ff02::1 ffff::1"),
            (Broadcast, "255.255.255.255 ::ffff:255.255.255.255"),
            (Documentation, "192.0.2.1 198.51.100.7 203.0.113.9 2001:db8::1 3fff::1 3fff:fff::1"),
            (Benchmarking, "198.18.0.0 198.19.255.255 2001:2::1"),
            (Reserved, "192.0.0.1 192.88.99.1 240.0.0.1 255.255.255.254 64:ff9b:1::1 100::1 2001::1:1 2001:20::1"),
            (Reserved, "::8.8.8.8 ::ffff:0:8.8.8.8 400::1 4000::1 5f00::1 2001:0:808:808::f7f7:f7f7"),
        ];
        for (expected, addresses) in table {
            for address in addresses.split(' ') {
                // An unspecified server makes a Teredo address unspecified.
                let expected = if address == "2001::1:1" { Unspecified } else { expected };
                assert_eq!(class(address), Some(expected), "{address}");
            }
        }
    }

    #[test]
    fn the_neighbours_of_special_addresses_are_public() {
        for address in [
            "1.0.0.0",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.0.3.0",
            "192.167.1.1",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "8.8.8.8",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2600::1",
            "3ffe::1",
            "3fff:1000::1",
            "2a00:1::5efe:8.8.8.8",
        ] {
            assert_eq!(class(address), None, "{address}");
        }
    }

    /// Returns the IPv6 addresses that embed an IPv4 address.
    fn forms(address: Ipv4Addr) -> Vec<Ipv6Addr> {
        let [a, b, c, d] = address.octets();
        let (high, low) = (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]));
        [
            [0, 0, 0, 0, 0, 0, high, low],
            [0, 0, 0, 0, 0, 0xffff, high, low],
            [0, 0, 0, 0, 0xffff, 0, high, low],
            [0x64, 0xff9b, 0, 0, 0, 0, high, low],
            [0x64, 0xff9b, 1, 0, 0, 0, high, low],
            [0x2002, high, low, 0, 0, 0, 0, 1],
            [0x2001, 0, high, low, 0, 0, 0xf7f7, 0xf7f7],
            [0x2001, 0, 0x808, 0x808, 0, 0, !high, !low],
            [0x2600, 1, 2, 3, 0, 0x5efe, high, low],
            [0x2600, 1, 2, 3, 0x200, 0x5efe, high, low],
        ]
        .map(Ipv6Addr::from)
        .to_vec()
    }

    proptest! {
        #[test]
        fn a_rejected_ipv4_address_is_rejected_in_all_embedded_forms(
            range in prop::sample::select(vec![
                ("0.0.0.0", 8), ("10.0.0.0", 8), ("100.64.0.0", 10), ("127.0.0.0", 8), ("169.254.0.0", 16),
                ("172.16.0.0", 12), ("192.0.0.0", 24), ("192.0.2.0", 24), ("192.88.99.0", 24), ("192.168.0.0", 16),
                ("198.18.0.0", 15), ("198.51.100.0", 24), ("203.0.113.0", 24), ("224.0.0.0", 4), ("240.0.0.0", 4),
                ("169.254.169.254", 32), ("168.63.129.16", 32), ("255.255.255.255", 32),
            ]),
            bits: u32,
        ) {
            let (network, prefix) = range;
            let host = u32::MAX.checked_shr(prefix).unwrap_or(0);
            let address = Ipv4Addr::from(u32::from(network.parse::<Ipv4Addr>().unwrap()) | bits & host);
            prop_assert!(AddressClass::of(address.into()).is_some(), "{address}");
            for form in forms(address) {
                prop_assert!(AddressClass::of(IpAddr::V6(form)).is_some(), "{address} in {form}");
            }
        }

        #[test]
        fn only_global_unicast_and_translated_ipv6_addresses_are_public(bits: u128) {
            let address = Ipv6Addr::from(bits);
            let translated = matches!(address.segments(), [0 | 0x64, ..]);
            let global = matches!(address.segments(), [0x2000..=0x3fff, ..]);
            prop_assert!(translated || global || AddressClass::of(address.into()).is_some(), "{address}");
        }
    }
}
