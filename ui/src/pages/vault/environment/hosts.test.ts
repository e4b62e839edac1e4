import { expect, test } from 'vitest';
import { hostsIn, hostsOf, withHosts } from './hosts';

const ENTRIES = ['KEY:a.example', 'KEY_2:b.example', 'KEY:c.example:8443'];

test('a variable has the hosts of its own entries', () => {
  expect(hostsOf(ENTRIES, 'KEY')).toEqual(['a.example', 'c.example:8443']);
  expect(hostsOf(ENTRIES, 'KEY_2')).toEqual(['b.example']);
  expect(hostsOf(ENTRIES, 'KE')).toEqual([]);
});

test('other hosts of a variable leave the entries of others', () => {
  expect(withHosts(ENTRIES, 'KEY', ['d.example'])).toEqual(['KEY_2:b.example', 'KEY:d.example']);
  expect(withHosts(ENTRIES, 'KEY', [])).toEqual(['KEY_2:b.example']);
});

test('hosts are read as in a URL, each once', () => {
  expect(hostsIn(' API.Example.com:443 \n\napi.example.com\n[::1]:8080\n')).toEqual(['api.example.com', '[::1]:8080']);
  expect(hostsIn('')).toEqual([]);
});

test('a line that is not only a host is refused', () => {
  for (const wrong of [
    'https://a.example',
    'a.example/path',
    'me@a.example',
    '*.example',
    'a.example?x',
    'a b',
    ':',
    'a:x',
  ]) {
    expect(hostsIn(wrong), wrong).toBeNull();
  }
});
