// SPDX-License-Identifier: BSD-2-Clause
// What Coz's own viewer makes of a profile: node coz_viewer.js PROFILE.JS PROFILE; one line for each unit, progress point,
// speedup and program speedup. The viewer's file is loaded as it is; only what draws is missing.
const fs = require('fs');
const vm = require('vm');
const context = vm.createContext({console});
vm.runInContext(fs.readFileSync(process.argv[2], 'utf8') + '\nthis.Profile = Profile;', context);
let warnings = 0;
const profile = new context.Profile(fs.readFileSync(process.argv[3], 'utf8'), null, null, () => 1,
                                    (title, text) => { warnings++; console.log('warning: ' + title + ': ' + text); });
for (const unit of profile.getSpeedupData(2))
    for (const point of unit.progress_points)
        for (const entry of point.measurements)
            console.log([unit.name, point.name, entry.speedup, entry.progress_speedup.toFixed(3)].join('\t'));
process.exit(warnings > 0 ? 1 : 0);
