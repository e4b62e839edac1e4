// Settings → MCP servers: a server that is connected with an account (OAuth), by registration and with a client that was entered.
import { isSound } from './fixtures/entering';
import { AccountServer } from './fixtures/mcp-oauth';
import { expect, test as base } from './fixtures/test';

const test = base.extend<{ server: AccountServer }>({
  server: async ({}, use) => {
    const server = await AccountServer.start();
    await use(server);
    await server.close();
  },
});

test('a server is connected with an account and disconnected', async ({ home, page, server, complaints }) => {
  complaints.allow(/left the origin: http:\/\/127.0.0.1:/);
  await home.rpc('config.set', { key: 'server.external_url', value: home.origin });
  await home.rpc('mcp.create', { name: 'far', url: server.url });
  await page.goto('/settings/mcp');
  const card = page.getByRole('region', { name: 'far', exact: true });
  const account = card.getByRole('region', { name: 'Account of far' });
  await expect(account.getByText('Account needed')).toBeVisible();
  await isSound(page, 'mcp-account-needed');

  await account.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('link', { name: 'Decline' }).click();
  await expect(account.getByText('The authorization was denied.')).toBeVisible();
  await expect(page).toHaveURL(/\/settings\/mcp$/);

  await account.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('link', { name: 'Allow' }).click();
  await expect(account.getByText('Account connected')).toBeVisible();
  await expect(card.getByText('Connected', { exact: true })).toBeVisible();
  await expect(card.getByText('1 approved tool')).toBeVisible();
  await isSound(page, 'mcp-account-connected');
  expect(server.clients.size).toBe(1);

  await account.getByRole('button', { name: 'Disconnect' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disconnect' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('far disconnected. The server confirmed that it revoked the tokens.')).toBeVisible();
  expect(server.revoked).toHaveLength(2);
  await expect(account.getByText('Account needed')).toBeVisible();
});

test('a wrong client ID is replaced', async ({ home, page, server, complaints }) => {
  complaints.allow(/left the origin: http:\/\/127.0.0.1:|status of 400|status of 502/);
  server.registers = false;
  await home.rpc('config.set', { key: 'server.external_url', value: home.origin });
  await home.rpc('mcp.create', { name: 'far', url: server.url });
  await page.goto('/settings/mcp');
  const account = page.getByRole('region', { name: 'Account of far' });
  await account.getByRole('button', { name: 'Connect account' }).click();
  await expect(account.getByText(/Register Gatehouse at the authorization server/).first()).toBeVisible();
  const redirect = `${home.origin}/auth/callback/far`;
  await expect(account.getByText(redirect)).toBeVisible();
  await account.getByLabel('Client ID').fill('wrong');
  await account.getByRole('button', { name: 'Connect account' }).click();
  await expect(page.getByRole('heading', { name: 'Unknown client' })).toBeVisible();

  server.clients.set('right', redirect);
  await page.goto('/settings/mcp');
  await account.getByText('OAuth client', { exact: true }).click();
  await account.getByLabel('Client ID').fill('right');
  await account.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('link', { name: 'Allow' }).click();
  await expect(account.getByText('Account connected')).toBeVisible();
});

test('a client that does not work is forgotten', async ({ home, page, server, complaints }) => {
  complaints.allow(/left the origin: http:\/\/127.0.0.1:|status of 400/);
  await home.rpc('config.set', { key: 'server.external_url', value: home.origin });
  await home.rpc('mcp.create', { name: 'far', url: server.url });
  await home.rpc('mcp.authorize', { name: 'far', client_id: 'wrong' });
  await page.goto('/settings/mcp');
  const account = page.getByRole('region', { name: 'Account of far' });
  await account.getByRole('button', { name: 'Remove client' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Remove client' }).click();
  await expect(page.getByRole('region', { name: 'Notifications' }).getByText('The client of far was removed.')).toBeVisible();
  await account.getByRole('button', { name: 'Connect account' }).click();
  await page.getByRole('link', { name: 'Allow' }).click();
  await expect(account.getByText('Account connected')).toBeVisible();
});
