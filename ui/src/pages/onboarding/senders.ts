// What a first webhook needs to know of the senders.
import type { Interface } from '../../client/generated/rpc';

export type Profile = Interface['methods']['webhooks.profiles']['result']['profiles'][number];
export type Webhook = Interface['methods']['webhooks.list']['result']['webhooks'][number];
export type Delivery = Interface['methods']['webhooks.deliveries']['result']['deliveries'][number];

/** The vendor's own name: it stands in brackets behind the kind of sender. */
export const vendorOf = ({ name }: Profile): string => /\(([^)]+)\)/.exec(name)?.[1] ?? name;

/** Whether the sender makes the secret, which then has to be told to the gateway. */
export const makesSecret = ({ guide }: Profile): boolean =>
  /the one made by us is replaced|replaces the one made by us/.test(guide);

/** The guide with this webhook's address in it. The secret is not written there: it is shown in its own place. */
export const guideFor = ({ guide }: Profile, url: string, secret: string): string =>
  guide.replaceAll('{url}', url).replaceAll('{secret}', secret);

/** Whether nobody but this machine and its network reaches an address. */
export function isPrivate(url: string): boolean {
  const { hostname } = new URL(url);
  return (
    /^(localhost|127\.|10\.|192\.168\.|172\.(1[6-9]|2\d|3[01])\.|169\.254\.|0\.0\.0\.0|\[::1?\]|\[f[cd])/.test(
      hostname,
    ) || !hostname.includes('.')
  );
}

/** A command that sends one delivery to a webhook of the profile `generic`. */
export const tryCommand = (url: string, header: string, secret: string): string =>
  `curl -X POST ${url} -H '${header}: ${secret}' -H 'X-Event-Type: test' -H 'Content-Type: application/json' -d '{"hello": "world"}'`;
