// The hosts to which agents may send a variable. The setting `tools.secrets` has entries `NAME:host` or
// `NAME:host:port`. All functions are pure.

/** The setting. */
export const SECRETS = 'tools.secrets';

const isOf = (name: string) => (entry: string) => entry.startsWith(`${name}:`);

export const hostsOf = (entries: readonly string[], name: string): string[] =>
  entries.filter(isOf(name)).map((entry) => entry.slice(name.length + 1));

/**
 * Returns the setting with new hosts for one variable. The entries of other variables are
 * unchanged.
 */
export const withHosts = (entries: readonly string[], name: string, hosts: readonly string[]): string[] => [
  ...entries.filter((entry) => !isOf(name)(entry)),
  ...hosts.map((host) => `${name}:${host}`),
];

/**
 * Returns the hosts in typed lines, without repetitions and as in a URL, or null if a line is not a
 * host.
 */
export function hostsIn(text: string): string[] | null {
  const found = new Set<string>();
  for (const line of text.split('\n').map((line) => line.trim())) {
    if (!line) continue;
    const url = `https://${line}`;
    if (/[\s/\\?#@*]/.test(line) || !URL.canParse(url)) return null;
    found.add(new URL(url).host);
  }
  return [...found];
}
