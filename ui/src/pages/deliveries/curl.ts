// Formats a delivery as a shell command. The signature is not stored, so only an unverified webhook accepts the command
// unchanged.
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

export function curlOf(url: string, headers: Record<string, string>, body: string): string {
  const lines = Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`);
  // With `--data-binary`, a body that begins with `@` would be read as a file name.
  return [`curl -X POST ${quoted(url)}`, ...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}
