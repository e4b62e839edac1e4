/** Whether a URL is reachable only from this machine or its local network. */
export function isPrivate(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|0\.|\[::1?\]|\[f[cd]|\[fe80)/.test(
      hostname,
    ) || !hostname.includes('.')
  );
}
