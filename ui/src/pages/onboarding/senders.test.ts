import { describe, expect, it } from 'vitest';
import { guideFor, isPrivate, makesSecret, tryCommand, vendorOf, type Profile } from './senders';

const profile = (name: string, guide: string): Profile => ({
  id: 'x',
  name,
  alias: null,
  default_auth_mode: 'static_header',
  events: [],
  headers: [],
  guide,
});

describe('senders', () => {
  it('are called by their own name', () => {
    expect(vendorOf(profile('Code host A (GitHub)', ''))).toBe('GitHub');
    expect(vendorOf(profile('Slack', ''))).toBe('Slack');
  });

  it('make the secret themselves or take ours', () => {
    expect(makesSecret(profile('x', 'here the vendor makes the secret, so the one made by us is replaced.'))).toBe(
      true,
    );
    expect(makesSecret(profile('x', "store it as this webhook's secret, which replaces the one made by us."))).toBe(
      true,
    );
    expect(makesSecret(profile('x', '4. Secret: {secret}'))).toBe(false);
  });

  it('are told where to send', () => {
    expect(guideFor(profile('x', 'URL {url}, secret {secret}, again {url}'), 'http://a', '…')).toBe(
      'URL http://a, secret …, again http://a',
    );
    expect(tryCommand('http://a/b', 'X-Webhook-Secret', 's')).toContain("-H 'X-Webhook-Secret: s'");
  });

  it('outside do not reach a private address', () => {
    for (const url of [
      'http://127.0.0.1:8420/x',
      'http://localhost/x',
      'http://10.0.0.1',
      'http://[::1]:1/',
      'http://box:1/',
    ]) {
      expect(isPrivate(url), url).toBe(true);
    }
    for (const url of ['https://gate.example.com/x', 'http://172.32.0.1/', 'http://11.0.0.1/']) {
      expect(isPrivate(url), url).toBe(false);
    }
  });
});
