// The table of endpoints against the interface document, and how a row becomes a call.
import assert from 'node:assert/strict';
import { createRequest, ENDPOINTS } from '../../src/rest/endpoints.ts';

describe('endpoints', () => {
  it('are those of the interface document', () => {
    assert.deepEqual(
      Object.values(ENDPOINTS).map(({ route }) => route),
      [
        'POST /api/v1/auth/login',
        'GET /api/v1/devices',
        'PUT /api/v1/devices/{device}/friendly-name',
        'POST /api/v1/labels',
        'DELETE /api/v1/devices/{device}/labels/{label}',
      ],
    );
    const shown = Object.entries(ENDPOINTS).filter(([, { result }]) => result === 'json');
    assert.deepEqual(
      shown.map(([name]) => name),
      ['login', 'listDevices'],
    );
  });

  it('send user name and password in this order, and nothing of them in the address', () => {
    assert.deepEqual(createRequest('login', { password: 'p', username: 'u' }), {
      method: 'POST',
      path: '/api/v1/auth/login',
      body: '{"username":"u","password":"p"}',
    });
  });

  it('put what has no other place into the query', () => {
    assert.deepEqual(createRequest('listDevices', { MaxResults: 5, NextToken: 'a/b' }), {
      method: 'GET',
      path: '/api/v1/devices',
      query: { MaxResults: 5, NextToken: 'a/b' },
    });
    assert.deepEqual(createRequest('listDevices', {}), { method: 'GET', path: '/api/v1/devices' });
  });

  it('encode what goes into the path, and send no body where there is none', () => {
    assert.deepEqual(createRequest('removeLabel', { device: 'a/b', label: 'ü?' }), {
      method: 'DELETE',
      path: '/api/v1/devices/a%2Fb/labels/%C3%BC%3F',
    });
    assert.deepEqual(createRequest('renameDevice', { device: 'a', name: 'n' }), {
      method: 'PUT',
      path: '/api/v1/devices/a/friendly-name',
      body: '{"name":"n"}',
    });
    assert.deepEqual(createRequest('createLabel', { label: 'l' }), {
      method: 'POST',
      path: '/api/v1/labels',
      body: '{"label":"l"}',
    });
  });
});
