//! The embedded documents by their path below `docs/`.

/// A document.
pub(super) struct Chapter {
    /// The path of its file, relative to `docs/`.
    pub(super) file: &'static str,
    /// The text, in Markdown.
    pub(super) text: &'static str,
}

/// The name of the table of contents.
pub(super) const CONTENTS: &str = "SUMMARY";
/// The only document outside `docs/`.
#[cfg(test)]
const CHANGELOG: &str = "../CHANGELOG.md";

macro_rules! embedded {
    ($file:literal) => {
        Chapter {
            file: $file,
            text: include_str!(concat!("../../../../docs/", $file)),
        }
    };
}

const CHAPTERS: &[Chapter] = &[
    embedded!("../CHANGELOG.md"),
    embedded!("API-mcp.md"),
    embedded!("API-openai.md"),
    embedded!("API-voice.md"),
    embedded!("API-webhooks.md"),
    embedded!("API.md"),
    embedded!("ARCHITECTURE.md"),
    embedded!("COMPARISON.md"),
    embedded!("GAUNTLET.md"),
    embedded!("GLOSSARY.md"),
    embedded!("INJECTIONS.md"),
    embedded!("OPERATIONS.md"),
    embedded!("SECURITY.md"),
    embedded!("STYLE.md"),
    embedded!("SUMMARY.md"),
    embedded!("adding-a-channel.md"),
    embedded!("adding-a-method.md"),
    embedded!("adding-a-route.md"),
    embedded!("adding-a-setting.md"),
    embedded!("adding-a-voice-provider.md"),
    embedded!("adding-a-webhook-profile.md"),
    embedded!("capacity.md"),
    embedded!("decisions/0001-one-write-transaction.md"),
    embedded!("decisions/0002-openapi-from-schemars.md"),
    embedded!("decisions/0003-tungstenite.md"),
    embedded!("decisions/0004-hyper.md"),
    embedded!("decisions/0005-crate-ceiling.md"),
    embedded!("decisions/0006-ssh-key.md"),
    embedded!("decisions/0007-credentials-in-memory.md"),
    embedded!("decisions/0008-passkey-user-handle.md"),
    embedded!("decisions/0009-outbound-and-tools.md"),
    embedded!("decisions/0010-sound-libraries.md"),
    embedded!("decisions/0011-page.md"),
    embedded!("decisions/0012-drivers-and-lanes.md"),
    embedded!("decisions/0013-delivery-rows.md"),
    embedded!("decisions/0015-counted-statistics.md"),
    embedded!("decisions/0016-age.md"),
    embedded!("decisions/0017-pdf.md"),
    embedded!("decisions/0018-shared-unseal.md"),
    embedded!("decisions/0019-images.md"),
    embedded!("decisions/0020-earshot.md"),
    embedded!("decisions/0021-certificates-and-importers.md"),
    embedded!("decisions/0022-opentelemetry.md"),
    embedded!("decisions/0023-accept-path.md"),
    embedded!("decisions/0024-round-trips.md"),
    embedded!("decisions/0025-inbound-mail.md"),
    embedded!("decisions/0026-boxed-futures.md"),
    embedded!("decisions/0027-deliveries-per-second.md"),
    embedded!("decisions/0028-build-features.md"),
    embedded!("decisions/0029-files-in-and-out.md"),
    embedded!("decisions/0030-matrix-encryption.md"),
    embedded!("decisions/0031-chat-receivers.md"),
    embedded!("decisions/0032-own-manual.md"),
    embedded!("decisions/0033-trial-restore-of-encrypted-backups.md"),
    embedded!("decisions/0034-what-operators-do-without.md"),
    embedded!("decisions/0035-what-the-comparison-leaves-out.md"),
    embedded!("decisions/0036-figures-of-the-engine.md"),
    embedded!("generated/error-codes.md"),
    embedded!("profiles-in-files.md"),
    embedded!("vault-format.md"),
];

impl Chapter {
    /// Returns the name in the URL: the path without `.md`. The changelog, which is not in `docs/`, also has a name.
    pub(super) fn name(&self) -> &'static str {
        let file = self.file.strip_prefix("../").unwrap_or(self.file);
        file.strip_suffix(".md").unwrap_or(file)
    }
}

/// Returns all documents.
pub(super) const fn all() -> &'static [Chapter] {
    CHAPTERS
}

/// Returns the document with this name in its URL.
pub(super) fn find(name: &str) -> Option<&'static Chapter> {
    CHAPTERS.iter().find(|chapter| chapter.name() == name)
}

/// Returns the document with this path relative to `docs/`.
pub(super) fn of_file(file: &str) -> Option<&'static Chapter> {
    CHAPTERS.iter().find(|chapter| chapter.file == file)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;
    use std::path::Path;

    fn collect(folder: &Path, names: &mut BTreeSet<String>) {
        for entry in folder.read_dir().unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect(&path, names);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                names.insert(path.to_str().unwrap().to_owned());
            }
        }
    }

    #[test]
    fn every_document_is_embedded_and_in_the_contents() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        let (mut files, mut embedded) = (BTreeSet::new(), BTreeSet::new());
        collect(&folder, &mut files);
        let contents = of_file("SUMMARY.md").unwrap().text;
        for chapter in CHAPTERS {
            let is_listed = contents.contains(&format!("]({})", chapter.file));
            assert!(is_listed || chapter.name() == CONTENTS, "{}", chapter.file);
            if chapter.file != CHANGELOG {
                let path = folder.join(chapter.file);
                embedded.insert(path.to_str().unwrap().to_owned());
            }
        }
        assert_eq!(embedded, files);
    }

    #[test]
    fn names_in_urls() {
        for (name, file) in [
            ("SUMMARY", "SUMMARY.md"),
            ("CHANGELOG", CHANGELOG),
            ("generated/error-codes", "generated/error-codes.md"),
        ] {
            assert_eq!(find(name).unwrap().file, file);
        }
        for name in ["", "SUMMARY.md", "../CHANGELOG", "decisions", "summary"] {
            assert!(find(name).is_none(), "{name}");
        }
    }
}
