/**
 * Revokes an object URL after the browser has read it. A player or a download may still read the URL, and the browser
 * reports a URL that was revoked too early as a missing file.
 */
export function revokeLater(url: string): void {
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
