/**
 * Revokes an object URL after the browser has read it. If a player or a download still reads the URL when it is
 * revoked, the browser reports a missing file.
 */
export function revokeLater(url: string): void {
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
