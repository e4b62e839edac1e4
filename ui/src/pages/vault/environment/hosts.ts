// The hosts to which agents may send a variable: the setting `tools.secrets` with entries `NAME:host` or
// `NAME:host:port`. Pure functions.

/** The setting. */
export const SECRETS = 'tools.secrets';

const isOf = (name: string) => (entry: string) => entry.startsWith(`${name}:`);

export const hostsOf = (entries: readonly string[], name: string): string[] =>
  entries.filter(isOf(name)).map((entry) => entry.slice(name.length + 1));

/** The setting with other hosts for a variable. The entries of other variables stay. */
export const withHosts = (entries: readonly string[], name: string, hosts: readonly string[]): string[] => [
  ...entries.filter((entry) => !isOf(name)(entry)),
  ...hosts.map((host) => `${name}:${host}`),
];

/** The hosts in typed lines, each once and as in a URL; null if a line is not a host. */
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
