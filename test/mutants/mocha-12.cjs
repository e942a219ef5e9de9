// Lets Stryker's mocha runner, which requires parts of mocha without their ending, find those of mocha 12: *.cjs.
require.extensions['.cjs'] = require.extensions['.js'];
