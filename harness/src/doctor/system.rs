//! How software is installed here, so that a mend is a command that can be copied.

use super::files::Files;

/// Who installs packages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Packages {
    /// Debian, Ubuntu and their kin.
    Apt,
    /// Fedora, RHEL and their kin.
    Dnf,
    /// Somebody else: both are said.
    Other,
}

impl Packages {
    /// As `/etc/os-release` says.
    pub fn here(files: &Files) -> Packages {
        let value = |key| files.value("etc/os-release", key).unwrap_or_default();
        let (own, like) = (value("ID"), value("ID_LIKE"));
        let is = |names: &[&str]| like.split_whitespace().chain([own.as_str()]).any(|name| names.contains(&name));
        if is(&["debian", "ubuntu"]) {
            Packages::Apt
        } else if is(&["fedora", "rhel", "centos"]) {
            Packages::Dnf
        } else {
            Packages::Other
        }
    }

    /// The command that installs a package, which has a name in each world.
    pub fn install(self, debian: &str, fedora: &str) -> String {
        match self {
            Packages::Apt => format!("apt-get install {debian}"),
            Packages::Dnf => format!("dnf install {fedora}"),
            Packages::Other => format!("apt-get install {debian}   # Fedora: dnf install {fedora}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::files::Root;
    use super::*;

    #[test]
    fn the_distribution_decides() {
        for (text, packages) in [
            ("NAME=x\nID=debian\n", Packages::Apt),
            ("ID=pop\nID_LIKE=\"ubuntu debian\"\n", Packages::Apt),
            ("ID=fedora\n", Packages::Dnf),
            ("ID=\"rocky\"\nID_LIKE=\"rhel centos fedora\"\n", Packages::Dnf),
            ("ID=arch\n", Packages::Other),
            ("", Packages::Other),
        ] {
            let root = Root::with(&[("etc/os-release", text)]);
            assert_eq!(Packages::here(&root.files()), packages, "{text}");
        }
        assert_eq!(Packages::Apt.install("g++", "gcc-c++"), "apt-get install g++");
        assert_eq!(Packages::Dnf.install("g++", "gcc-c++"), "dnf install gcc-c++");
    }
}
