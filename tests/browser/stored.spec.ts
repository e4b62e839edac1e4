// Vault → All secrets: one list of everything stored, what uses it and when that was last.
import { violations } from './fixtures/axe';
import { deliver, makeWebhook, pullRequest } from './fixtures/sender';
import { expect, test } from './fixtures/test';

test('all secrets are in one list, with what uses them', async ({ home, page }) => {
  await page.goto('/vault/stored');
  await expect(page.getByText('Nothing stored yet')).toBeVisible();
  await home.rpc('env.set', { key: 'GITHUB_TOKEN', value: 'ghp_secret' });
  await home.rpc('ssh_keys.generate', { name: 'deploy' });
  await home.rpc('channels.create', { type: 'http', id: 'team', label: 'Team', fields: { url: 'http://127.0.0.1:9/', secret: 'whsec_0123456789abcdef0123456789abcdef' } });
  const hook = await makeWebhook(home, { name: 'Code', source_profile: 'codehost_a', deliver_only: true, deliver_to: 'inbox' });
  await deliver(home, hook, pullRequest(7), { event: 'pull_request' });
  // Nothing listens there: the channel's secret signs the attempt nevertheless.
  await expect(home.rpc('channels.test', { id: 'team' })).rejects.toThrow();
  await page.reload();
  const list = page.getByRole('list', { name: 'All secrets' });
  await expect(list.getByRole('listitem')).toHaveCount(4);
  const row = (name: string) => list.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
  await expect(row('GITHUB_TOKEN')).toContainText('Environment variable');
  await expect(row('deploy')).toContainText('SHA256:');
  await expect(row('deploy')).toContainText('No known use');
  await expect(row('deploy')).not.toContainText('No use recorded');
  await expect(row('Team')).toContainText('No known use');
  await expect(row('Team')).toContainText('Last used just now');
  await expect(row('Code')).toContainText('Last used');
  await expect(row('Code').getByRole('link', { name: 'verifying its deliveries' })).toBeVisible();
  expect(await page.content()).not.toContain('ghp_secret');
  await page.getByLabel('Search secrets').fill('ssh');
  await expect(list.getByRole('listitem')).toHaveCount(1);
  await page.getByLabel('Search secrets').fill('');
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme });
    expect(await violations(page), colorScheme).toEqual([]);
  }
  await page.setViewportSize({ width: 320, height: 700 });
  expect(await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)).toBeLessThanOrEqual(0);
  await page.setViewportSize({ width: 1280, height: 900 });
  await row('Code').getByRole('link', { name: 'Code', exact: true }).click();
  await expect(page.getByRole('heading', { level: 1, name: 'Code' })).toBeVisible();
});

test('a secret is used by what the settings name, and by the name that it has in the vault', async ({ home, page }) => {
  await home.rpc('env.set', { key: 'GITHUB_TOKEN', value: 'ghp_secret' });
  await home.rpc('env.set', { key: 'TOKEN', value: 'another' });
  await home.rpc('mcp.create', { name: 'code', command: 'no-such-program-here', env: { TOKEN: { vault: 'GITHUB_TOKEN' } } });
  await home.rpc('channels.create', { type: 'http', id: 'team', label: 'Team', fields: { url: 'http://127.0.0.1:9/', secret: 'whsec_0123456789abcdef0123456789abcdef' } });
  await home.rpc('providers.set_key', { id: 'openai', key: 'sk-test' });
  await home.rpc('config.set', { key: 'models.default', value: 'openai/gpt-4.1-mini' });
  await page.goto('/vault/stored');
  const list = page.getByRole('list', { name: 'All secrets' });
  const row = (name: string) => list.getByRole('listitem').filter({ has: page.getByRole('link', { name, exact: true }) });
  await expect(row('GITHUB_TOKEN').getByRole('link', { name: 'MCP server code' })).toBeVisible();
  await expect(row('TOKEN')).toContainText('No known use');
  await expect(row('openai').getByRole('link', { name: 'the default model' })).toBeVisible();
  await expect(row('Team')).toContainText('No known use');
  // The list follows the settings.
  await home.rpc('config.set', { key: 'approvals.notify', value: ['http:team'] });
  await expect(row('Team').getByRole('link', { name: 'notification “A tool call waits for approval”' })).toBeVisible();
});
