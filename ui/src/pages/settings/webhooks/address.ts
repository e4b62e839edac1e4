// Where a webhook is reached.

/** Whether nobody but this machine and its network reaches an address. */
export function isPrivate(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|0\.|\[::1?\]|\[f[cd]|\[fe80)/.test(
      hostname,
    ) || !hostname.includes('.')
  );
}
